// Element-wise operators, by the rows of their scalar semantics.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "author/define/definitions.h"
#include "author/define/pointwise_rows.h"
#include "author/define/promotion.h"
#include "author/loops/choice.h"
#include "base/strings.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;
using ir::DType;
using ir::NodeId;

namespace {

/// Row of `to`, `clone` and the like, which convert each element to the type of the result.
constexpr PointwiseRow kConversion = {"to", "input", "", "$0", 0, Takes::Result, Beside::Cast, {}, {}, "$0"};

const PointwiseRow* row_of(std::string_view name, const Arguments& call) {
  if (name == "to" || name == "type_as" || name == "clone" || name == "contiguous") return &kConversion;
  const auto row = std::ranges::find_if(kPointwiseRows, [&](const PointwiseRow& one) {
    return one.name == name && call.hold(one.condition) &&
           std::ranges::all_of(split(one.operands, ' '), [&](std::string_view operand) { return call.given(operand); });
  });
  return row == std::end(kPointwiseRows) ? nullptr : row;
}

/// A condition stays one.
bool chooses(std::string_view parameter) { return parameter == "condition" || parameter == "mask"; }

/// The text for what it computes in. Errors: Unsupported: it has none.
Result<std::string_view> text_for(const PointwiseRow& row, Compute compute) {
  const auto without = [&](const char* kind) { return unsupported(fmt::format("{} of {}", row.name, kind)); };
  switch (compute) {
    case Compute::Float: return row.text;
    case Compute::Double:
      if (row.takes == Takes::Real) return without("doubles");
      return row.text;
    case Compute::Int:
      if (!row.whole.empty()) return row.whole;
      if (row.takes == Takes::Real) return without("whole numbers");
      return row.text;
    case Compute::Bool:
      if (row.truth.empty()) return without("conditions");
      return row.truth;
  }
  return row.text;
}

/// Writes `{…}` as rounding to that type, or wrapping, and `~n` as a question whether operand n is NaN.
std::string with_marks(std::string_view text, const Element& stored, const std::vector<bool>& may_be_nan) {
  std::string made;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '@': made += stored.kernel; break;
      case '{':
        if (!stored.is_exact())
          made += stored.compute == Compute::Int ? fmt::format("int64_t({}(", stored.kernel)
                                                 : fmt::format("rounded<{}>(", stored.kernel);
        break;
      case '}':
        if (!stored.is_exact()) made += stored.compute == Compute::Int ? "))" : ")";
        break;
      case '~':
        ++i;
        if (may_be_nan[static_cast<size_t>(text[i] - '0')]) made += fmt::format(" | (${0} != ${0})", text[i]);
        break;
      default: made += text[i];
    }
  }
  return made;
}

/// Tells whether intermediate sums and products of such numbers may need more than 64 bits.
bool may_overflow(std::string_view text, const Element& element) {
  const auto steps = std::ranges::count_if(text, [](char c) { return c == '+' || c == '-' || c == '*'; });
  const bool is_wide = std::ranges::find(element.by_example, DType::Int64) != element.by_example.end();
  return steps > (is_wide ? 0 : 1);
}

/// Returns the target on which an operand is converted to the operator's type; nullopt: none, or only when it is stored.
std::optional<RoundsOn> cast_of(const PointwiseRow& row, bool is_tensor, size_t at) {
  if (row.takes == Takes::Operands) return RoundsOn::Both;
  switch (row.beside) {
    case Beside::Cast: return RoundsOn::Both;
    case Beside::CastOnCpu: return is_tensor ? RoundsOn::Both : RoundsOn::Cpu;
    case Beside::Float:
      if (!is_tensor) return std::nullopt;
      return at == 1 && row.operands == "input other" ? RoundsOn::Gpu : RoundsOn::Both;
    case Beside::Late: break;
  }
  return std::nullopt;
}

/// Tells whether a number that is NaN is the result: PyTorch ignores it where it is the one bound of torch.clamp.
bool heeds_nan_bounds(const PointwiseRow& row) {
  return row.name == "hardtanh" || row.name.starts_with("clamp_") ||
         (row.name == "clamp" && row.operands == "input min max");
}

std::string_view gpu_text_of(const PointwiseRow& row, std::string_view text, bool by_tensor) {
  if (!by_tensor && !row.by_number.empty()) return row.by_number;
  return row.on_gpu.empty() ? text : row.on_gpu;
}

int64_t wrapped(int64_t value, DType dtype) {
  switch (dtype) {
    case DType::Int8: return static_cast<int8_t>(value);
    case DType::Int16: return static_cast<int16_t>(value);
    case DType::Int32: return static_cast<int32_t>(value);
    case DType::UInt8: return static_cast<uint8_t>(value);
    default: return value;
  }
}

}  // namespace

/// An operand as promotion looks at it.
Promotes Definitions::promotes(const Arg& arg, size_t example) const {
  if (const std::optional<TensorId> of = optional_tensor(arg)) {
    const Tensor& tensor = tensors_[*of];
    return {elements_[tensor.element].by_example[example],
            tensor.shape.empty() ? Promotes::Kind::ZeroDimensional : Promotes::Kind::Tensor};
  }
  const ArgKind kind = arg.kind == ArgKind::Node ? subject_.types[0][arg.node].constant : arg.kind;
  const DType dtype = kind == ArgKind::Float ? DType::Float32 : kind == ArgKind::Int ? DType::Int64 : DType::Bool;
  return {dtype, Promotes::Kind::Number};
}

/// Returns the type that the operands are promoted to, by example.
std::vector<DType> Definitions::promoted_types(const Arguments& call, std::string_view parameters) const {
  std::vector<DType> types;
  for (size_t example = 0; example < subject_.types.size(); ++example) {
    std::vector<Promotes> operands;
    for (const std::string_view parameter : split(parameters, ' '))
      operands.push_back(promotes(call.at(parameter), example));
    types.push_back(promoted(operands));
  }
  return types;
}

/// Makes operand_at() convert the operand's values to that type. Errors: Unsupported: kernels do not know the type.
Result<void> Definitions::cast(Operand& operand, const std::vector<DType>& to, RoundsOn where) {
  const auto needs_none = [&](size_t example) {
    if (operand.tensor)
      return keeps_values(elements_[tensors_[*operand.tensor].element].by_example[example], to[example]);
    return ir::size_bytes(to[example]) > 2 && !(ir::is_integral(to[example]) && to[example] != DType::Int64);
  };
  bool all = true;
  for (size_t example = 0; example < to.size(); ++example) all = all && needs_none(example);
  if (all || to[0] == DType::Bool) return {};
  const bool is_whole_number = !operand.tensor && exprs_.at(operand.number).kind == Expr::Kind::Number &&
                               exprs_.at(operand.number).compute == Compute::Int;
  if (is_whole_number && std::ranges::count(to, to[0]) == std::ranges::ssize(to)) {
    operand.number = exprs_.integer(wrapped(exprs_.at(operand.number).integer, to[0]));
    return {};
  }
  PASSNET_TRY(operand.cast, element_of(to));
  operand.cast_on = where;
  return {};
}

/// Extends the shape of the result by those of the operands, as PyTorch broadcasts. Errors: Unsupported: they differ.
Result<void> Definitions::broadcast_to(std::vector<SizeId>& result, const std::vector<TensorId>& operands) {
  for (const TensorId of : operands) {
    const std::vector<SizeId>& shape = tensors_[of].shape;
    if (shape.size() > result.size()) result.insert(result.begin(), shape.size() - result.size(), sizes_.one());
    for (size_t i = 0; i < shape.size(); ++i) {
      SizeId& size = result[result.size() - shape.size() + i];
      if (sizes_.is_one(size))
        size = shape[i];
      else if (!sizes_.is_one(shape[i]) && size != shape[i])
        return unsupported("its operands have different shapes");
    }
  }
  return {};
}

Result<bool> Definitions::pointwise(NodeId id, const Arguments& call, std::string_view name) {
  if (name.starts_with("bitwise_") && subject_.types[0][id].tensor.dtype == DType::Bool)
    return pointwise(id, call, fmt::format("logical_{}", name.substr(name.find('_') + 1)));
  const PointwiseRow* const row = row_of(name, call);
  if (row == nullptr) return false;
  PASSNET_TRY(Tensor result, result_of(id));
  const bool compares = row->takes == Takes::Operands;
  const std::vector<std::string_view> parameters = split(row->operands, ' ');
  const std::vector<DType> common =
      compares ? promoted_types(call, row->operands) : elements_[result.element].by_example;
  Compute compute = compute_of(common[0]);
  if (compares && compute == Compute::Bool) compute = Compute::Int;
  const bool is_real = compute == Compute::Float || compute == Compute::Double;
  PASSNET_TRY(const std::string_view text, text_for(*row, compute));
  std::vector<Operand> operands;
  std::vector<TensorId> takes;
  std::vector<Compute> computes;
  std::vector<bool> may_be_nan;
  std::optional<size_t> bound;
  for (const std::string_view parameter : parameters) {
    computes.push_back(chooses(parameter) ? Compute::Bool : compute);
    PASSNET_TRY(Operand own, operand(call.at(parameter), computes.back()));
    std::optional<RoundsOn> where = cast_of(*row, own.tensor.has_value(), operands.size());
    if (compute == Compute::Int) where = RoundsOn::Both;
    if (where && !chooses(parameter)) PASSNET_TRY_VOID(cast(own, common, *where));
    const Expr& number = exprs_.at(own.number);
    may_be_nan.push_back(is_real && own.tensor);
    const bool is_nan = is_real && !own.tensor && number.kind == Expr::Kind::Number && std::isnan(number.real());
    if (is_nan && heeds_nan_bounds(*row)) bound = operands.size();
    // Several operators of PyTorch, of which the first keep whole numbers such.
    if (is_real && own.tensor && text.find('{') != std::string_view::npos) {
      const Compute of = elements_[tensors_[*own.tensor].element].compute;
      if (of == Compute::Int || of == Compute::Bool) return unsupported(fmt::format("{} of whole numbers", row->name));
    }
    if (own.tensor) takes.push_back(*own.tensor);
    operands.push_back(std::move(own));
  }
  if (takes.empty()) return unsupported("it takes no tensor");
  PASSNET_TRY_VOID(broadcast_to(result.shape, takes));
  const std::optional<TensorId> last = operands.back().tensor;
  const auto is_one = [this](SizeId size) { return sizes_.is_one(size); };
  const bool by_one_element = last && std::ranges::all_of(tensors_[*last].shape, is_one);
  const auto written = [&](std::string_view of, Target target) {
    Element stored = elements_[result.element];
    const bool by_float = !last || (by_one_element && target == Target::Cpu);
    if (by_float && is_real && row->beside == Beside::Float && row->operands == "input other") stored.kernel = "float";
    const std::string marked = with_marks(of, stored, may_be_nan);
    const bool wraps = row->takes == Takes::Ring && compute == Compute::Int && may_overflow(marked, stored);
    return wraps ? wrapping(marked) : marked;
  };
  const std::string on_cpu = written(text, Target::Cpu),
                    on_gpu = written(is_real ? gpu_text_of(*row, text, last.has_value()) : text, Target::Cuda);
  const Compute given = compares ? Compute::Bool : compute;
  const auto at = [this, operands, computes, on_cpu, on_gpu, given, bound](Scope& scope, const Place& place) {
    ExprTable& exprs = scope.exprs();
    std::vector<ExprId> parts;
    for (size_t i = 0; i < operands.size(); ++i) parts.push_back(operand_at(scope, operands[i], place, computes[i]));
    if (bound || on_cpu == "$0") return parts[bound.value_or(0)];
    const ExprId cpu = exprs.apply(on_cpu, parts, given);
    return on_cpu == on_gpu ? cpu : exprs.by_target(cpu, exprs.apply(on_gpu, std::move(parts), given));
  };
  PASSNET_TRY_VOID(define(id, std::move(result), std::move(takes), row->work, at));
  return true;
}

// Each element of one vector times each of another.
Result<void> Definitions::outer_product(NodeId id, const Arguments& call) {
  PASSNET_TRY(Tensor result, result_of(id));
  const std::vector<ir::DType> types = elements_[result.element].by_example;
  const Compute compute = elements_[result.element].compute;
  std::vector<Operand> operands(2);
  for (const size_t i : {size_t{0}, size_t{1}}) {
    PASSNET_TRY(operands[i].tensor, tensor(call.at(i == 0 ? "input" : "vec2")));
    const std::vector<SizeId>& shape = tensors_[*operands[i].tensor].shape;
    if (shape.size() != 1) return unsupported("an outer product of other ranks");
    PASSNET_TRY_VOID(cast(operands[i], types, RoundsOn::Both));
    result.shape.push_back(shape[0]);
  }
  const std::string text = compute == Compute::Bool  ? "$0 & $1"
                           : compute == Compute::Int ? wrapping("$0 * $1")
                                                     : "$0 * $1";
  return define(id, std::move(result), {*operands[0].tensor, *operands[1].tensor}, 1,
                [=, this](Scope& scope, const Place& place) {
                  std::vector<ExprId> parts;
                  for (const size_t i : {size_t{0}, size_t{1}})
                    parts.push_back(operand_at(scope, operands[i], {place[i]}, compute));
                  return scope.exprs().apply(text, std::move(parts), compute);
                });
}

}  // namespace passnet::author
