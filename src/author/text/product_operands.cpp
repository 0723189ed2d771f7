#include <fmt/format.h>

#include "author/text/kernel_writer.h"

namespace passnet::author {

void KernelWriter::decode_steps(const std::string& step) {
  const std::vector<Loop>& depth = facts_.product->depth;
  for (const Loop& loop : depth) variables_[loop.variable] = depth.size() == 1 ? step : fresh("k");
  decode(depth, step);
}

void KernelWriter::write_address(const ProductOperand& operand, const std::string& across, const std::string& step) {
  const auto decode_as_one = [&](const std::vector<Loop>& loops, const std::string& number) {
    for (const Loop& loop : loops) variables_[loop.variable] = "";
    variables_[loops.back().variable] = number;
  };
  if (operand.is_run && operand.along_depth) {
    decode(operand.across, across);
    decode_as_one(facts_.product->depth, step);
  } else {
    if (operand.is_run)
      decode_as_one(operand.across, across);
    else
      decode(operand.across, across);
    decode_steps(step);
  }
  const Expr expr = exprs_.at(operand.element);
  line(fmt::format("return {} + {};", name_of(expr.tensor),
                   offset_text(access_in(definitions_, expr.tensor, expr.places), lane_name())));
}

}  // namespace passnet::author
