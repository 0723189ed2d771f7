// Element-wise operators, by the rows of their scalar semantics.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "author/define/operators.h"
#include "author/define/pointwise_rows.h"
#include "base/text/strings.h"

namespace passnet::author::op {

using namespace formula;  // NOLINT: A + B

using ir::Arg;
using ir::ArgKind;
using ir::DType;

namespace {

const PointwiseRow* row_of(std::string_view name, const Arguments& call) {
  const std::vector<PointwiseRow>& rows = pointwise_rows();
  const auto row = std::ranges::find_if(rows, [&](const PointwiseRow& one) {
    return one.name == name && call.hold(one.condition) &&
           std::ranges::all_of(split(one.operands, ' '), [&](std::string_view operand) { return call.given(operand); });
  });
  return row == rows.end() ? nullptr : &*row;
}

/// A condition stays one.
bool chooses(std::string_view parameter) { return parameter == "condition" || parameter == "mask"; }

/// The formula for what it computes in. Errors: Unsupported: it has none.
Result<Formula> formula_for(const PointwiseRow& row, Compute compute) {
  const auto without = [&](const char* kind) { return unsupported(fmt::format("{} of {}", row.name, kind)); };
  if (compute == Compute::Bool) {
    if (row.truth.is_empty()) return without("conditions");
    return row.truth;
  }
  if (compute == Compute::Int && !row.whole.is_empty()) return row.whole;
  if (compute != Compute::Float && row.takes == Takes::Real)
    return without(compute == Compute::Int ? "whole numbers" : "doubles");
  return row.formula;
}

/// Tells whether intermediate sums and products of such numbers may need more than 64 bits.
bool may_overflow(const Formula& formula, const Element& element) {
  const auto steps = std::ranges::count_if(formula.steps(), [](const Formula::Step& step) {
    return step.op == Op::Add || step.op == Op::Subtract || step.op == Op::Multiply || step.op == Op::Negate;
  });
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

const Formula& gpu_formula_of(const PointwiseRow& row, const Formula& formula, bool by_tensor) {
  if (!by_tensor && !row.by_number.is_empty()) return row.by_number;
  return row.on_gpu.is_empty() ? formula : row.on_gpu;
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

/// An operand as promotion looks at it. Where kinds differ, the first of these kinds decides, unless a later one is of a
/// higher category (bool, whole, real).
struct Promotes {
  enum class Kind : uint8_t { Tensor, ZeroDimensional, Number };
  ir::DType dtype = ir::DType::Float32;
  Kind kind = Kind::Tensor;
};

/// bool, whole, real.
int category(DType dtype) { return ir::is_floating(dtype) ? 2 : ir::is_integral(dtype) ? 1 : 0; }

DType wider(DType a, DType b) {
  if (a == b) return a;
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  if (category(a) == 2) {
    if (a == DType::Float64 || b == DType::Float64) return DType::Float64;
    return DType::Float32;  // also of the two types of 16 bits
  }
  if (ir::size_bytes(a) != ir::size_bytes(b)) return ir::size_bytes(a) > ir::size_bytes(b) ? a : b;
  return DType::Int16;  // of int8 and uint8
}

/// torch.result_type of real operands. REQUIRES: there is one.
DType promoted(const std::vector<Promotes>& operands) {
  std::optional<DType> made;
  for (const auto kind : {Promotes::Kind::Tensor, Promotes::Kind::ZeroDimensional, Promotes::Kind::Number}) {
    std::optional<DType> own;
    for (const Promotes& one : operands) {
      if (one.kind == kind) own = own ? wider(*own, one.dtype) : one.dtype;
    }
    if (own && (!made || category(*own) > category(*made))) made = own;
  }
  return *made;
}

/// Tells whether each value of `from` is also one of `to`, or becomes one when it is converted to the type that kernels compute in.
bool keeps_values(DType from, DType to) {
  if (from == to || from == DType::Bool) return true;
  const bool is_byte = ir::is_integral(from) && ir::size_bytes(from) == 1;
  if (ir::is_floating(to)) return ir::size_bytes(to) > 2 || is_byte;
  if (!ir::is_integral(from)) return to == DType::Bool;
  return to == DType::Int64 || to == DType::Bool || (to != DType::Int8 && to != DType::UInt8 && wider(from, to) == to);
}

Promotes promotes(const Context& c, const Arg& arg, size_t example) {
  if (const std::optional<TensorId> of = c.optional_tensor(arg)) {
    const Tensor& tensor = c.tensors[*of];
    return {c.elements[tensor.element].by_example[example],
            tensor.shape.empty() ? Promotes::Kind::ZeroDimensional : Promotes::Kind::Tensor};
  }
  const ArgKind kind = arg.kind == ArgKind::Node ? c.subject.types[0][arg.node].constant : arg.kind;
  const DType dtype = kind == ArgKind::Float ? DType::Float32 : kind == ArgKind::Int ? DType::Int64 : DType::Bool;
  return {dtype, Promotes::Kind::Number};
}

/// Returns the type that the operands are promoted to, by example.
std::vector<DType> promoted_types(const Context& c, const Arguments& call, std::string_view parameters) {
  std::vector<DType> types;
  for (size_t example = 0; example < c.subject.types.size(); ++example) {
    std::vector<Promotes> operands;
    for (const std::string_view parameter : split(parameters, ' '))
      operands.push_back(promotes(c, call.at(parameter), example));
    types.push_back(promoted(operands));
  }
  return types;
}

/// Makes operand_at() convert the operand's values to that type. Errors: Unsupported: kernels do not know the type.
Result<void> cast(Context& c, Operand& operand, const std::vector<DType>& to, RoundsOn where) {
  const auto needs_none = [&](size_t example) {
    if (operand.tensor) return keeps_values(c.element(*operand.tensor).by_example[example], to[example]);
    return ir::size_bytes(to[example]) > 2 && !(ir::is_integral(to[example]) && to[example] != DType::Int64);
  };
  bool all = true;
  for (size_t example = 0; example < to.size(); ++example) all = all && needs_none(example);
  if (all || to[0] == DType::Bool) return {};
  const bool is_whole_number = !operand.tensor && c.exprs.at(operand.number).kind == Expr::Kind::Number &&
                               c.exprs.at(operand.number).compute == Compute::Int;
  if (is_whole_number && std::ranges::count(to, to[0]) == std::ranges::ssize(to)) {
    operand.number = c.exprs.integer(wrapped(c.exprs.at(operand.number).integer, to[0]));
    return {};
  }
  PASSNET_TRY(operand.cast, c.element_of(to));
  operand.cast_on = where;
  return {};
}

/// Extends the shape of the result by those of the operands, as PyTorch broadcasts. Errors: Unsupported: they differ.
Result<void> broadcast_to(Context& c, std::vector<SizeId>& result, const std::vector<TensorId>& operands) {
  for (const TensorId of : operands) {
    const std::vector<SizeId>& shape = c.tensors[of].shape;
    if (shape.size() > result.size()) result.insert(result.begin(), shape.size() - result.size(), c.sizes.one());
    for (size_t i = 0; i < shape.size(); ++i) {
      SizeId& size = result[result.size() - shape.size() + i];
      if (c.sizes.is_one(size))
        size = shape[i];
      else if (!c.sizes.is_one(shape[i]) && size != shape[i])
        return unsupported("its operands have different shapes");
    }
  }
  return {};
}

/// The operands of a row, each with what it is computed in.
struct Operands {
  std::vector<Operand> all;
  std::vector<TensorId> tensors;
  std::vector<Compute> computes;
  std::vector<bool> may_be_nan;
  std::optional<size_t> bound;  // a number that is NaN, and the result
};

/// common: the type that they are converted to; compute: that of it. is_in_steps: several operators of PyTorch, of which
/// the first keep whole numbers such.
Result<Operands> operands_of(Context& c, const Arguments& call, const PointwiseRow& row,
                             const std::vector<DType>& common, Compute compute, bool is_in_steps) {
  const bool is_real = compute == Compute::Float || compute == Compute::Double;
  Operands made;
  for (const std::string_view parameter : split(row.operands, ' ')) {
    made.computes.push_back(chooses(parameter) ? Compute::Bool : compute);
    PASSNET_TRY(Operand own, c.operand(call.at(parameter), made.computes.back()));
    std::optional<RoundsOn> where = cast_of(row, own.tensor.has_value(), made.all.size());
    if (compute == Compute::Int) where = RoundsOn::Both;
    if (where && !chooses(parameter)) PASSNET_TRY_VOID(cast(c, own, common, *where));
    const Expr& number = c.exprs.at(own.number);
    made.may_be_nan.push_back(is_real && own.tensor);
    const bool is_nan = is_real && !own.tensor && number.kind == Expr::Kind::Number && std::isnan(number.real());
    if (is_nan && heeds_nan_bounds(row)) made.bound = made.all.size();
    if (is_real && own.tensor && is_in_steps) {
      const Compute of = c.element(*own.tensor).compute;
      if (of == Compute::Int || of == Compute::Bool) return unsupported(fmt::format("{} of whole numbers", row.name));
    }
    if (own.tensor) made.tensors.push_back(*own.tensor);
    made.all.push_back(std::move(own));
  }
  if (made.tensors.empty()) return unsupported("it takes no tensor");
  return made;
}

}  // namespace

Result<void> pointwise(Context& c, const Arguments& call) {
  std::string name(call.name() == "type_as" ? "to" : call.name());
  if (name.starts_with("bitwise_") && c.subject.types[0][call.id()].tensor.dtype == DType::Bool)
    name = "logical_" + name.substr(name.find('_') + 1);
  const PointwiseRow* const row = row_of(name, call);
  if (row == nullptr) return unsupported(fmt::format("no kernel can be written for {}", quoted(call.name())));
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  const bool compares = row->takes == Takes::Operands;
  const std::vector<DType> common =
      compares ? promoted_types(c, call, row->operands) : c.elements[result.element].by_example;
  Compute compute = compute_of(common[0]);
  if (compares && compute == Compute::Bool) compute = Compute::Int;
  const bool is_real = compute == Compute::Float || compute == Compute::Double;
  PASSNET_TRY(const Formula formula, formula_for(*row, compute));
  PASSNET_TRY(Operands of, operands_of(c, call, *row, common, compute, formula.has(Op::Stored)));
  PASSNET_TRY_VOID(broadcast_to(c, result.shape, of.tensors));
  const std::optional<TensorId> last = of.all.back().tensor;
  const auto is_one = [&c](SizeId size) { return c.sizes.is_one(size); };
  const bool by_one_element = last && std::ranges::all_of(c.tensors[*last].shape, is_one);
  const auto for_target = [&](const Formula& given, Target target) {
    const Element& stored = c.elements[result.element];
    const bool by_float = is_real && (!last || (by_one_element && target == Target::Cpu)) &&
                          row->beside == Beside::Float && row->operands == "input other";
    const Op stored_by = stored.is_exact() || by_float    ? Op::Stored
                         : stored.compute == Compute::Int ? Op::Wrapped
                                                          : Op::Rounded;
    const Formula made = given.resolved(by_float ? Formula::kFloat : result.element, stored_by, of.may_be_nan);
    const bool wraps = row->takes == Takes::Ring && compute == Compute::Int && may_overflow(made, stored);
    return wraps ? made.wrapping() : made;
  };
  const Formula on_cpu = for_target(formula, Target::Cpu),
                on_gpu = for_target(is_real ? gpu_formula_of(*row, formula, last.has_value()) : formula, Target::Cuda);
  std::vector<TensorId> takes = of.tensors;
  const Compute given = compares ? Compute::Bool : compute;
  const auto at = [&c, of = std::move(of), on_cpu, on_gpu, given](Scope& scope, const Place& place) {
    std::vector<ExprId> parts;
    for (size_t i = 0; i < of.all.size(); ++i) parts.push_back(c.operand_at(scope, of.all[i], place, of.computes[i]));
    if (of.bound || on_cpu.is_operand()) return parts[of.bound.value_or(0)];
    const ExprId cpu = scope.exprs.apply(on_cpu, parts, given);
    return on_cpu == on_gpu ? cpu : scope.exprs.by_target(cpu, scope.exprs.apply(on_gpu, std::move(parts), given));
  };
  return c.define(std::move(result), std::move(takes), row->work, at);
}

// Each element of one vector times each of another.
Result<void> outer_product(Context& c, const Arguments& call) {
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  const std::vector<ir::DType> types = c.elements[result.element].by_example;
  const Compute compute = c.elements[result.element].compute;
  std::vector<Operand> operands(2);
  for (const size_t i : {size_t{0}, size_t{1}}) {
    PASSNET_TRY(operands[i].tensor, c.tensor(call.at(i == 0 ? "input" : "vec2")));
    const std::vector<SizeId>& shape = c.tensors[*operands[i].tensor].shape;
    if (shape.size() != 1) return unsupported("an outer product of other ranks");
    PASSNET_TRY_VOID(cast(c, operands[i], types, RoundsOn::Both));
    result.shape.push_back(shape[0]);
  }
  const Formula product = compute == Compute::Bool ? A & B : compute == Compute::Int ? (A * B).wrapping() : A * B;
  return c.define(std::move(result), {*operands[0].tensor, *operands[1].tensor}, 1,
                  [=, &c](Scope& scope, const Place& place) {
                    std::vector<ExprId> parts;
                    for (const size_t i : {size_t{0}, size_t{1}})
                      parts.push_back(c.operand_at(scope, operands[i], {place[i]}, compute));
                    return scope.exprs.apply(product, std::move(parts), compute);
                  });
}

// One slope for all elements, or one for each channel.
Result<void> prelu(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(const TensorId weight, c.tensor(call.at("weight")));
  PASSNET_TRY(Tensor result, c.float_result_of(call.id(), "prelu"));
  result.shape = c.tensors[x].shape;
  const std::vector<SizeId> slopes = c.tensors[weight].shape;
  const bool by_channel = slopes.size() == 1 && !c.sizes.is_one(slopes[0]);
  if (slopes.size() > 1 || (by_channel && (result.shape.size() < 2 || result.shape[1] != slopes[0])))
    return unsupported("prelu with slopes of another shape");
  return c.define(std::move(result), {x, weight}, 2, [=](Scope& scope, const Place& place) {
    const Place channel = slopes.empty() ? Place() : Place{by_channel ? place[1] : scope.indices.zero()};
    return scope.exprs.apply(choose(A > 0.0, A, A * B), {scope.element(x, place), scope.element(weight, channel)});
  });
}

Result<void> glu(Context& c, const Arguments& call, TensorId x) {
  const auto rank = c.rank(x);
  PASSNET_TRY(const int64_t dim, call.dimension("dim", rank));
  PASSNET_TRY(Tensor result, c.float_result_of(call.id(), "glu"));
  result.shape = c.tensors[x].shape;
  const auto at_dim = static_cast<size_t>(dim);
  PASSNET_TRY(result.shape[at_dim], c.sizes.quotient(result.shape[at_dim], c.sizes.literal(2)));
  const SizeId half = result.shape[at_dim];
  const auto at = [=](Scope& scope, const Place& place) {
    Place gate = place;
    gate[at_dim] = scope.indices.add(scope.indices.size(half), gate[at_dim]);
    return scope.exprs.apply(A * sigmoid(B), {scope.element(x, place), scope.element(x, gate)});
  };
  return c.define(std::move(result), {x}, 14, at);
}

}  // namespace passnet::author::op
