#include <fmt/format.h>

#include "author/text/cuda_kernel.h"

namespace passnet::author {

// A block has a tile of sums. How an element of an operand is read, and what is done with a sum, are functions.
void CudaKernel::write_product() {
  const Product& product = *facts_.product;
  const std::string rows = product_text(product.rows.across), columns = product_text(product.columns.across);
  const auto tiles = [](const std::string& extent, const char* side) {
    return fmt::format("ceil_div(int64_t({}), int64_t({}))", extent, side);
  };
  const std::string beside = fresh("tile"), below = fresh("tile");
  line(fmt::format("const Divided<{}> {}(task_index());", tiles(columns, "TILE_COLUMNS"), beside));
  line(fmt::format("const Divided<{}> {}({}.quotient);", tiles(rows, "TILE_ROWS"), below, beside));
  line(fmt::format("const int64_t item = {}.quotient;", below));
  line(fmt::format("if (item >= {}) return;", product_text(product.batch)));
  decode(product.batch, "item");
  const std::string left = write_operand("left", product.rows), right = write_operand("right", product.columns);
  const std::string row = fresh("row"), column = fresh("column"), sum = fresh("sum");
  open(
      fmt::format("product_tile<{}, TILE_ROWS, TILE_COLUMNS>({}.remainder, {}.remainder, {}, {}, {}, {}, {}, "
                  "[&](int64_t {}, int64_t {}, float {})",
                  definitions_.elements()[product.element].kernel, below, beside, rows, columns,
                  product_text(product.depth), left, right, row, column, sum));
  const Scoped scope(*this);
  decode(product.rows.across, row);
  decode(product.columns.across, column);
  names_[product.sum] = sum;
  store_all(part_.stores);
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
  const std::vector<Loop>& depth = facts_.product->depth;
  for (const Loop& loop : depth) variables_[loop.variable] = depth.size() == 1 ? step : fresh("k");
  decode(operand.across, across);
  decode(depth, step);
  if (operand.in_memory) {
    const Expr expr = exprs_.at(operand.element);
    line(fmt::format("return {} + {};", name_of(expr.tensor),
                     offset_text(access_in(definitions_, expr.tensor, expr.places), lane_name())));
  } else {
    const std::string element = value(operand.element);
    line(fmt::format("return from_float<{}>({});", definitions_.elements()[facts_.product->element].kernel, element));
  }
  close("});");
  return name;
}

}  // namespace passnet::author
