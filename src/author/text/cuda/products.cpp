#include <fmt/format.h>

#include <set>

#include "author/text/cuda/kernel.h"
#include "author/text/operations.h"

namespace passnet::author {

namespace {

/// Returns the type of a factor. In a convolution floats may be TF32, as PyTorch has it.
std::string factor_text(SizeTable& sizes, const Element& element, std::optional<SizeId> channels) {
  if (!channels || (element.kernel != "float" && !element.varies)) return element.kernel;
  return fmt::format("convolved<{}, {}>", element.kernel, sizes.kernel_text(*channels));
}

}  // namespace

// A block, or the blocks of a cluster, have a tile of sums. How an element of an operand is read, and what is done with a sum,
// are functions.
void CudaKernel::write_product() {
  const Product& product = *facts_.product;
  const std::string rows = bare(product_text(product.rows.across)),
                    columns = bare(product_text(product.columns.across));
  const auto tiles = [](const std::string& extent, const char* side) {
    return fmt::format("ceil_div(int64_t({}), int64_t({}))", extent, side);
  };
  const std::string beside = fresh("tile_beside"), below = fresh("tile_below");
  line(fmt::format("const Divided<{}> {}(task_index() / CLUSTER);", tiles(columns, "TILE_COLUMNS"), beside));
  line(fmt::format("const Divided<{}> {}({}.quotient);", tiles(rows, "TILE_ROWS"), below, beside));
  line(fmt::format("const int64_t item = {}.quotient;", below));
  line(fmt::format("if (item >= {}) return;", product_text(product.batch)));
  decode(product.batch, "item");
  const std::string left = write_operand("left", product.rows),
                    right = product.windows ? write_windows(*product.windows) : write_operand("right", product.columns);
  const std::string row = fresh("row"), column = fresh("column"), sum = fresh("sum");
  open(
      fmt::format("product_tile<{}, TILE_ROWS, TILE_COLUMNS, CLUSTER>({}.remainder, {}.remainder, {}, {}, {}, {}, {}, "
                  "[&](int64_t {})",
                  factor_text(sizes_, definitions_.elements()[product.element], product.channels), below, beside, rows,
                  columns, bare(product_text(product.depth)), left, right, row));
  const Scoped scope(*this);
  decode(product.rows.across, row);
  std::set<VariableId> of_columns;
  for (const Loop& loop : product.columns.across) of_columns.insert(loop.variable);
  hoist_loads(of_columns);
  hoist(of_columns);
  open(fmt::format("return [=](int64_t {}, float {})", column, sum));
  decode(product.columns.across, column);
  names_[product.sum] = sum;
  store_all(part_.stores);
  close("};");
  close("});");
}

/// Returns: what it is called.
std::string CudaKernel::write_operand(const std::string& stem, const ProductOperand& operand) {
  const OtherLoops other(*this);
  const Scoped scope(*this);
  const std::string name = fresh(stem), across = fresh("across"), step = fresh("k");
  const char* const neighbours = operand.along_depth ? "Neighbours::AlongDepth" : "Neighbours::AcrossDepth";
  const std::string how = operand.in_memory
                              ? fmt::format("in_memory<{}, {}>", neighbours, operand.in_runs ? "PACK" : "1")
                              : fmt::format("computed<{}>", neighbours);
  open(fmt::format("const auto {} = {}([&](int64_t {}, int64_t {})", name, how, across, step));
  if (operand.in_memory) {
    write_address(operand, across, step);
  } else {
    decode(operand.across, across);
    decode_steps(step);
    const std::string element = value(operand.element);
    line(fmt::format("return from_float<{}>({});", definitions_.elements()[facts_.product->element].kernel, element));
  }
  close("});");
  return name;
}

/// Returns: what it is called.
std::string CudaKernel::write_windows(const Windows& windows) {
  const OtherLoops other(*this);
  const Scoped scope(*this);
  const std::string name = fresh("right"), across = fresh("across"), block = fresh("block"), tap = fresh("tap");
  const Expr load = exprs_.at(windows.load);
  open(fmt::format("const auto {} = in_blocks<{}, {}>([&](int64_t {})", name, product_text(windows.taps),
                   sizes_.kernel_text(windows.step), across));
  decode(facts_.product->columns.across, across);
  open(fmt::format("return [=](int64_t {}, int64_t {}) -> const {}*", block, tap, element(load.tensor).kernel));
  variables_[windows.channel] = "";
  if (windows.block) variables_[*windows.block] = block;
  for (const Loop& loop : windows.taps) variables_[loop.variable] = windows.taps.size() == 1 ? tap : fresh("k");
  decode(windows.taps, tap);
  if (windows.inside) line(fmt::format("if (!{}) return nullptr;", value(*windows.inside)));
  line(fmt::format("return {} + {};", name_of(load.tensor),
                   offset_text(access_in(definitions_, load.tensor, load.places), lane_name())));
  close("};");
  close("});");
  return name;
}

}  // namespace passnet::author
