#include <fmt/format.h>

#include <utility>

#include "author/text/cpu/kernel.h"

namespace passnet::author {

namespace {

/// The beginning of a function that is part of the loops which call it.
std::string function(const std::string& parameters) {
  return fmt::format("[&]({}) __attribute__((always_inline))", parameters);
}

/// Tells whether it is read as it lies, step by step of a sum.
bool lies_along_depth(const ProductOperand& operand) { return operand.is_run && operand.along_depth; }

}  // namespace

// A task has tiles of sums. How elements of an operand are read, and what is done with 16 sums of a row, are functions.
void CpuKernel::write_product() {
  const Product& product = *facts_.product;
  const std::vector<Loop>& columns = product.columns.across;
  const std::vector<Loop> runs(columns.begin(), columns.end() - 1);
  const std::string batch = product_text(product.batch), tiles = fresh("tiles");
  const std::string times = product.batch.empty() ? "" : batch + " * ";
  const bool along_depth = lies_along_depth(product.rows) && lies_along_depth(product.columns);
  line(fmt::format("const ProductTiles {} = product_tiles({}, {}, {}{});", tiles, bare(batch),
                   bare(product_text(product.rows.across)), bare(product_text(columns)),
                   along_depth ? ", " + bare(product_text(product.depth)) : ""));
  line(fmt::format("const auto [first, last] = chunk({}{}.count(), 1);", times, tiles));
  open("for (int64_t next = first; next < last; ++next)");
  if (!product.batch.empty()) line(fmt::format("const int64_t item = next / {}.count();", tiles));
  decode(product.batch, "item");
  const std::string left = write_row_operand(), right = write_column_operand();
  const std::string row = fresh("row"), run = fresh("run"), sum = fresh("sum");
  open(fmt::format("product_tile({0}[next % {0}.count()], {1}, {2}, {3}, {4}, {5}", tiles, bare(extent_text(*lane_)),
                   bare(product_text(product.depth)), left, right,
                   function(fmt::format("int64_t {}, int64_t {}, int64_t i, int lanes, vec {}", row, run, sum))));
  {
    const Scoped scope(*this);
    decode(product.rows.across, row);
    decode(runs, run);
    names_[product.sum] = sum;
    if (vectors_) {
      store_all(part_.stores);
    } else {
      const std::string apart = fresh("apart"), from = fresh("from");
      line(fmt::format("const int64_t {} = i;", from));
      line(fmt::format("float {}[kLanes];", apart));
      line(fmt::format("store({}, {});", apart, sum));
      names_[product.sum] = fmt::format("{}[i - {}]", apart, from);
      open(fmt::format("for (int64_t i = {0}; i < {0} + lanes; ++i)", from));
      store_all(part_.stores);
      close();
    }
  }
  close("});");
  close();
}

/// An operand whose elements are computed: what they were stored as in PyTorch holds them.
std::string CpuKernel::computed() const {
  return fmt::format("computed<{}>", definitions_.elements()[facts_.product->element].kernel);
}

/// Returns: what it is called.
std::string CpuKernel::write_row_operand() {
  const Product& product = *facts_.product;
  const ProductOperand& operand = product.rows;
  const OtherLoops other(*this);
  const Scoped scope(*this);
  const std::string name = fresh("left"), row = fresh("row"), step = fresh("k");
  const char* const neighbours = operand.along_depth ? "Neighbours::AlongDepth" : "Neighbours::AcrossDepth";
  open(fmt::format("const auto {} = {}({}", name,
                   operand.is_run ? fmt::format("in_memory<{}>", neighbours) : computed(),
                   function(fmt::format("int64_t {}, int64_t {}", row, step))));
  if (operand.is_run) {
    write_address(operand, row, step);
  } else {
    decode(operand.across, row);
    decode_steps(step);
    line(fmt::format("return {};", value(operand.element)));
  }
  close("});");
  return name;
}

std::string CpuKernel::write_column_operand() {
  const Product& product = *facts_.product;
  const ProductOperand& operand = product.columns;
  const OtherLoops other(*this);
  const Scoped scope(*this);
  const std::string name = fresh("right"), step = fresh("k");
  if (lies_along_depth(operand)) {
    const std::string column = fresh("column");
    open(fmt::format("const auto {} = in_memory<Neighbours::AlongDepth>({}", name,
                     function(fmt::format("int64_t {}, int64_t {}", column, step))));
    write_address(operand, column, step);
    close("});");
    return name;
  }
  const std::string run = fresh("run");
  open(fmt::format("const auto {} = {}({}", name, computed(),
                   function(fmt::format("int64_t {}, int64_t i, int lanes, int64_t {}", run, step))));
  decode({operand.across.begin(), operand.across.end() - 1}, run);
  decode_steps(step);
  const bool vectors = std::exchange(vectors_, true);
  const std::string element = value(operand.element);
  line(fmt::format("return {};", is_vector(operand.element) ? element : fmt::format("vec({})", element)));
  vectors_ = vectors;
  close("});");
  return name;
}

}  // namespace passnet::author
