#include <fmt/format.h>

#include <optional>

#include "author/text/cuda/kernel.h"

namespace passnet::author {

using Kind = Expr::Kind;

/// The sum of squared distances from the mean of what `sum` adds up, as `squares` adds them up; none: it is no such sum.
std::optional<CudaKernel::Moments> CudaKernel::moments_of(ExprId sum, ExprId squares) const {
  using formula::A, formula::B;
  const Expr &first = exprs_.at(sum), &second = exprs_.at(squares);
  if (first.order != second.order || first.variables != second.variables) return std::nullopt;
  const Expr& square = exprs_.at(second.parts[0]);
  if (!square.is_apply_of(A * A)) return std::nullopt;
  const Expr& centered = exprs_.at(square.parts[0]);
  if (!centered.is_apply_of(A - B) || centered.parts[0] != first.parts[0]) return std::nullopt;
  const Expr& mean = exprs_.at(centered.parts[1]);
  if (!mean.is_apply_of(kQuotient) || mean.parts[0] != sum) return std::nullopt;
  return Moments{.element = first.parts[0], .mean = centered.parts[1], .squares = squares};
}

/// Mean and squares of a row are computed together, of what its threads have in registers, in PyTorch's order.
void CudaKernel::keep_for_moments(const std::vector<Stage>& stages) {
  for (const Stage& sum : stages) {
    for (const Stage& squares : stages) {
      if (!sum.reduction || !squares.reduction || exprs_.at(*sum.reduction).order != facts_.order ||
          !is_row(kernel_, exprs_.at(*sum.reduction).variables))
        continue;
      const std::optional<Moments> moments = moments_of(*sum.reduction, *squares.reduction);
      if (!moments) continue;
      if (!kept_.contains(moments->element)) kept_[moments->element] = {array_name(moments->element, "kept"), false};
      moments_.emplace(*sum.reduction, *moments);
    }
  }
}

/// After the loop that keeps the elements.
void CudaKernel::write_moments(ExprId sum, const Moments& moments) {
  const std::string mean = name_for(moments.mean), squares = name_for(moments.squares);
  const char* const norm = exprs_.at(sum).order == SumOrder::LayerNorm ? "layer" : "group";
  line(fmt::format("const auto [{}, {}] = {}_norm_moments<THREADS, {}>({}, thread);", mean, squares, norm,
                   extent_text(*lane_), kept_.at(moments.element).name));
  names_[moments.mean] = names_[sum] = mean;
  names_[moments.squares] = squares;
}

}  // namespace passnet::author
