// Element-wise operators: the table of their expressions, and the groups they gather in.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "author/writer.h"
#include "base/strings.h"
#include "fx/print.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

/// What the kernel computes in.
enum class In : uint8_t {
  Result,    // the type of the result
  Float,     // the same, and there is no function for double
  Operands,  // what the operands are promoted to; the result is a bool
};

struct Row {
  std::string_view name;        // canonical
  std::string_view operands;    // canonical parameters
  std::string_view condition;   // "parameter=literal parameter=literal": all must hold
  std::string_view expression;  // $0, $1 … are the operands; @name( is a function of the C library
  In in = In::Result;
};

// The first row whose condition holds counts. Sources of the formulas: PyTorch's documentation of each operator.
constexpr Row kRows[] = {
    {"add", "input other", "alpha=1", "$0 + $1"},
    {"add", "input other alpha", "", "$0 + $1 * $2"},
    {"sub", "input other", "alpha=1", "$0 - $1"},
    {"sub", "input other alpha", "", "$0 - $1 * $2"},
    {"mul", "input other", "", "$0 * $1"},
    {"div", "input other", "rounding_mode=None", "$0 / $1"},
    {"div", "input other", "rounding_mode=\"floor\"", "@floor($0 / $1)"},
    {"div", "input other", "rounding_mode=\"trunc\"", "@trunc($0 / $1)"},
    {"pow", "input", "exponent=2", "$0 * $0"},
    {"pow", "input", "exponent=2.0", "$0 * $0"},
    {"pow", "input", "exponent=3", "$0 * $0 * $0"},
    {"pow", "input", "exponent=3.0", "$0 * $0 * $0"},
    {"pow", "input", "exponent=0.5", "sqrt($0)"},
    {"pow", "input", "exponent=-0.5", "1.0f / sqrt($0)", In::Float},
    {"pow", "input", "exponent=-1", "1 / $0"},
    {"pow", "input exponent", "", "@pow($0, $1)"},
    {"remainder", "input other", "", "$0 - @floor($0 / $1) * $1"},
    {"maximum", "input other", "", "$0 > $1 || $0 != $0 ? $0 : $1"},
    {"minimum", "input other", "", "$0 < $1 || $0 != $0 ? $0 : $1"},
    {"atan2", "input other", "", "@atan2($0, $1)"},
    {"addcmul", "input tensor1 tensor2 value", "", "$0 + $3 * ($1 * $2)"},
    {"addcdiv", "input tensor1 tensor2 value", "", "$0 + $3 * ($1 / $2)"},
    {"lerp", "input end weight", "", "$0 + $2 * ($1 - $0)"},
    {"neg", "input", "", "-$0"},
    {"abs", "input", "", "$0 < 0 ? -$0 : $0 + 0"},
    {"sign", "input", "", "$0 > 0 ? 1 : $0 < 0 ? -1 : $0"},
    {"reciprocal", "input", "", "1 / $0"},
    {"square", "input", "", "$0 * $0"},
    {"sqrt", "input", "", "sqrt($0)"},
    {"rsqrt", "input", "", "1 / sqrt($0)"},
    {"exp", "input", "", "exp($0)"},
    {"exp2", "input", "", "@exp2($0)"},
    {"expm1", "input", "", "expm1($0)"},
    {"log", "input", "", "log($0)"},
    {"log2", "input", "", "@log2($0)"},
    {"log10", "input", "", "@log10($0)"},
    {"log1p", "input", "", "log1p($0)"},
    {"sin", "input", "", "sin($0)"},
    {"cos", "input", "", "cos($0)"},
    {"tan", "input", "", "@tan($0)"},
    {"asin", "input", "", "@asin($0)"},
    {"acos", "input", "", "@acos($0)"},
    {"atan", "input", "", "@atan($0)"},
    {"sinh", "input", "", "@sinh($0)"},
    {"cosh", "input", "", "@cosh($0)"},
    {"tanh", "input", "", "tanh($0)"},
    {"erf", "input", "", "erf($0)"},
    {"erfc", "input", "", "@erfc($0)"},
    {"floor", "input", "", "@floor($0)"},
    {"ceil", "input", "", "@ceil($0)"},
    {"trunc", "input", "", "@trunc($0)"},
    {"round", "input", "decimals=0", "@rint($0)"},
    {"clamp", "input max", "min=None", "$1 < $0 ? $1 : $0"},
    {"clamp", "input min", "max=None", "$1 > $0 ? $1 : $0"},
    {"clamp", "input min max", "", "$2 < ($1 > $0 ? $1 : $0) ? $2 : ($1 > $0 ? $1 : $0)"},
    {"clamp_min", "input min", "", "$1 > $0 ? $1 : $0"},
    {"clamp_max", "input max", "", "$1 < $0 ? $1 : $0"},
    {"eq", "input other", "", "$0 == $1", In::Operands},
    {"ne", "input other", "", "$0 != $1", In::Operands},
    {"lt", "input other", "", "$0 < $1", In::Operands},
    {"le", "input other", "", "$0 <= $1", In::Operands},
    {"gt", "input other", "", "$0 > $1", In::Operands},
    {"ge", "input other", "", "$0 >= $1", In::Operands},
    {"isnan", "input", "", "$0 != $0", In::Operands},
    {"isinf", "input", "", "$0 - $0 != $0 - $0 && $0 == $0", In::Operands},
    {"isfinite", "input", "", "$0 - $0 == $0 - $0", In::Operands},
    {"logical_and", "input other", "", "$0 != 0 && $1 != 0", In::Operands},
    {"logical_or", "input other", "", "$0 != 0 || $1 != 0", In::Operands},
    {"logical_xor", "input other", "", "($0 != 0) != ($1 != 0)", In::Operands},
    {"logical_not", "input", "", "!($0 != 0)", In::Operands},
    {"bitwise_and", "input other", "", "$0 & $1"},
    {"bitwise_or", "input other", "", "$0 | $1"},
    {"bitwise_xor", "input other", "", "$0 ^ $1"},
    {"bitwise_not", "input", "", "~$0"},
    {"where", "condition input other", "", "$0 ? $1 : $2"},
    {"masked_fill", "mask value input", "", "$0 ? $1 : $2"},
    {"relu", "input", "", "$0 < 0 ? 0 : $0"},
    {"relu6", "input", "", "$0 < 0 ? 0 : $0 > 6 ? 6 : $0"},
    {"silu", "input", "", "silu($0)", In::Float},
    {"mish", "input", "", "$0 * tanh(softplus($0))", In::Float},
    {"gelu", "input", "approximate=\"none\"", "gelu($0)", In::Float},
    {"gelu", "input", "approximate=\"tanh\"", "gelu_tanh($0)", In::Float},
    {"hardtanh", "input min_val max_val", "", "$0 < $1 ? $1 : $0 > $2 ? $2 : $0"},
    {"hardswish", "input", "", "hardswish($0)", In::Float},
    {"hardsigmoid", "input", "", "hardsigmoid($0)", In::Float},
    {"leaky_relu", "input negative_slope", "", "$0 > 0 ? $0 : $0 * $1"},
    {"elu", "input alpha", "", "$0 > 0 ? $0 : $1 * expm1($0)"},
    {"selu", "input", "", "1.0507009873554805f * ($0 > 0 ? $0 : 1.6732632423543772f * expm1($0))", In::Float},
    {"celu", "input alpha", "", "$0 > 0 ? $0 : $1 * expm1($0 / $1)"},
    {"sigmoid", "input", "", "sigmoid($0)", In::Float},
    {"logsigmoid", "input", "", "($0 < 0 ? $0 : 0.0f) - log1p(exp($0 < 0 ? $0 : -$0))", In::Float},
    {"softplus", "input beta threshold", "", "softplus($0, $1, $2)", In::Float},
    {"softsign", "input", "", "$0 / (1 + ($0 < 0 ? -$0 : $0))"},
    {"tanhshrink", "input", "", "$0 - tanh($0)"},
    {"softshrink", "input lambd", "", "$0 > $1 ? $0 - $1 : $0 < -$1 ? $0 + $1 : 0 * $0"},
    {"hardshrink", "input lambd", "", "$0 >= -$1 && $0 <= $1 ? 0 : $0"},
    {"threshold", "input threshold value", "", "$0 <= $1 ? $2 : $0"},
    {"to", "input", "", "$0"},
    {"type_as", "input", "", "$0"},
    {"contiguous", "input", "", "$0"},
    {"clone", "input", "", "$0"},
    {"zeros_like", "input", "", "0 * ($0 != $0)"},
    {"ones_like", "input", "", "1 + 0 * ($0 != $0)"},
    {"full_like", "input fill_value", "", "$1 + 0 * ($0 != $0)"},
};

bool holds(const ir::Graph& graph, const ir::CanonicalCall& call, std::string_view condition) {
  for (const std::string_view term : split(condition, ' ')) {
    if (term.empty()) continue;
    const size_t equals = term.find('=');
    for (size_t i = 0; i < call.args.size(); ++i) {
      if (call.names[i] == term.substr(0, equals) && fx::print_arg(graph, call.args[i]) != term.substr(equals + 1))
        return false;
    }
  }
  return true;
}

std::string substitute(std::string_view expression, const std::vector<std::string>& operands) {
  std::string out;
  for (size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] == '$')
      out += operands[static_cast<size_t>(expression[++i] - '0')];
    else
      out += expression[i];
  }
  return out;
}

std::string number(double value, std::string_view compute) {
  const bool is_float = compute == "float";
  if (value != value) return "(@inf - @inf)";
  const double largest = is_float ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  if (value > largest) return "@inf";
  if (value < -largest) return "-@inf";
  return fx::print_float(value) + (is_float ? "f" : "");
}

bool same_shapes(const Value& value, const std::vector<std::vector<int64_t>>& shapes) { return value.shapes == shapes; }

}  // namespace

Result<Operand> Writer::operand(const Arg& arg, std::string_view compute, std::string_view rounded_to) const {
  Operand made;
  switch (arg.kind) {
    case ArgKind::Bool: made.text = arg.boolean ? "1" : "0"; return made;
    case ArgKind::Int:
      made.text = compute == "float" || compute == "double" ? number(static_cast<double>(arg.integer), compute)
                                                            : fmt::format("{}", arg.integer);
      if (arg.integer < 0) made.text = fmt::format("({})", made.text);
      return made;
    case ArgKind::Float:
      if (compute == "bool") return unsupported("a float beside bools");
      made.text = number(arg.real, compute == "int64_t" ? "double" : compute);
      if (arg.real < 0) made.text = fmt::format("({})", made.text);
      if (!rounded_to.empty()) made.text = fmt::format("rounded<{}>({})", rounded_to, made.text);
      return made;
    case ArgKind::Node: break;
    default: return unsupported("an argument is neither a tensor nor a number");
  }
  if (values_[arg.node]) {
    made.value = values_[arg.node];
    return made;
  }
  const ValueType& type = subject_.types[0][arg.node];
  if (type.kind != ValueType::Kind::Constant) return unsupported("an argument is neither a tensor nor a number");
  made.text = graph_.node(arg.node).name;
  switch (type.constant) {
    case ArgKind::Bool: made.declared = "bool"; break;
    case ArgKind::Int: made.declared = "int64_t"; break;
    case ArgKind::Float: made.declared = compute == "double" ? "double" : "float"; break;
    default: return unsupported("an argument that differs between the graphs is no number");
  }
  return made;
}

Result<bool> Writer::pointwise_node(NodeId id, const Call& call, std::string_view name) {
  if (name == "batch_norm") return done(batch_norm(id, call));
  if (name == "glu") return done(glu(id, call));
  const auto row =
      std::ranges::find_if(kRows, [&](const Row& r) { return r.name == name && holds(graph_, call, r.condition); });
  if (row == std::end(kRows)) return false;
  PASSNET_TRY(Value result, new_value(id));
  std::string_view compute = types_[result.type].compute;
  std::string rounded_to;
  if (row->in == In::Operands) {
    compute = "int64_t";
    for (const std::string_view parameter : split(row->operands, ' ')) {
      const Arg& arg = argument(call, parameter);
      const std::optional<Value> value = optional_tensor(arg);
      const std::string_view of = value                        ? types_[value->type].compute
                                  : arg.kind == ArgKind::Float ? "float"
                                                               : "int64_t";
      if (of == "double" || (of == "float" && compute != "double")) compute = of;
      if (value && of == "float" && types_[value->type].cpp != "float") rounded_to = types_[value->type].cpp;
    }
  }
  if (row->in == In::Float && compute == "double") return unsupported(fmt::format("{} of float64", name));
  std::string expression(row->expression);
  const bool integers = compute == "int64_t" || compute == "bool";
  if (integers && expression.find('@') != std::string::npos) return unsupported(fmt::format("{} of integers", name));
  if (name == "bitwise_not" && compute == "bool") expression = "!$0";
  std::vector<Operand> operands;
  for (const std::string_view parameter : split(row->operands, ' ')) {
    PASSNET_TRY(operands.emplace_back(), operand(argument(call, parameter), compute, rounded_to));
  }
  PASSNET_TRY(values_[id], pointwise(std::move(result), operands, expression, compute));
  return true;
}

size_t Writer::group_for(const Value& result, const std::vector<Operand>& operands) {
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (!steps_[i].group || steps_[i].group->shapes != result.shapes) continue;
    bool there = true, anchored = false;  // anchored: one operand has the shape of the group, so the result does too
    for (const Operand& operand : operands) {
      if (!operand.value) continue;
      const bool inside = operand.value->in_group && operand.value->step == static_cast<int64_t>(i);
      there = there && (inside || operand.value->step < static_cast<int64_t>(i));
      anchored = anchored || inside || same_shapes(*operand.value, result.shapes);
    }
    if (there && anchored) return i;
  }
  return new_group(result, operands);
}

size_t Writer::new_group(const Value& result, const std::vector<Operand>& operands) {
  Step step;
  Group group;
  group.shape = fresh("shape");
  group.shapes = result.shapes;
  std::string shape;
  for (const Operand& operand : operands) {
    if (!operand.value) continue;
    stored(*operand.value);
    if (same_shapes(*operand.value, result.shapes)) {
      shape = operand.value->name + ".shape";
      break;
    }
    const std::string own = operand.value->name + ".shape";
    if (!shape.empty()) needs_broadcast_ = true;
    shape = shape.empty() ? own : fmt::format("broadcast({}, {})", shape, own);
  }
  step.lines.push_back(fmt::format("{} = {}", group.shape, shape));
  step.group = std::move(group);
  return add_step(std::move(step));
}

void Writer::load_into(size_t step, const Value& value) {
  Group& group = *steps_[step].group;
  for (const Load& load : group.loads) {
    if (load.value.name == value.name) return;
  }
  stored(value);
  std::vector<std::string>& lines = steps_[step].lines;
  Load load{value, value.name, value.flat && same_shapes(value, group.shapes)};
  if (load.direct) {
    if (lines[0] != fmt::format("{} = {}.shape", group.shape, value.name)) {
      lines.push_back(fmt::format("if {}.shape != {}:", value.name, group.shape));
      lines.push_back("    return NotImplemented");
    }
  } else {
    needs_broadcast_ = true;
    load.argument = fresh(value.name + "_wide");
    lines.push_back(fmt::format("if broadcast({}.shape, {}) != {}:", value.name, group.shape, group.shape));
    lines.push_back("    return NotImplemented");
    lines.push_back(fmt::format("{} = {}.expand({})", load.argument, value.name, group.shape));
  }
  group.loads.push_back(std::move(load));
}

void Writer::declare(Group& group, const Operand& operand) const {
  const std::pair<std::string, std::string> scalar(operand.declared, operand.text);
  if (!operand.declared.empty() && std::ranges::find(group.scalars, scalar) == group.scalars.end())
    group.scalars.push_back(scalar);
}

Result<Value> Writer::pointwise(Value result, const std::vector<Operand>& operands, const std::string& expression,
                                std::string_view compute) {
  if (std::ranges::none_of(operands, [](const Operand& operand) { return operand.value.has_value(); }))
    return unsupported("it takes no tensor");
  const size_t step = group_for(result, operands);
  std::vector<std::string> texts;
  for (const Operand& operand : operands) {
    declare(*steps_[step].group, operand);
    if (!operand.value) {
      texts.push_back(operand.text);
    } else if (operand.value->in_group && operand.value->step == static_cast<int64_t>(step)) {
      texts.push_back(operand.value->name);
    } else {
      load_into(step, *operand.value);
      texts.push_back(operand.value->name + "_i");
    }
  }
  result.step = static_cast<int64_t>(step);
  result.in_group = true;
  result.flat = true;
  steps_[step].group->statements.push_back({result.name, result.type, substitute(expression, texts), compute});
  return result;
}

Result<Value> Writer::copy(const Value& value, std::string_view suffix) {
  return pointwise(temporary(value, suffix), {{value, {}, {}}}, "$0", types_[value.type].compute);
}

Result<void> Writer::batch_norm(NodeId id, const Call& call) {
  PASSNET_TRY(const bool training, flag(call, "training"));
  if (training) return unsupported("batch_norm in training changes its statistics");
  PASSNET_TRY(const Value x, tensor(argument(call, "input")));
  PASSNET_TRY(Value result, new_value(id));
  if (types_[x.type].compute != "float") return unsupported("batch_norm of another type than float");
  if (x.rank() < 2) return unsupported("batch_norm of fewer than two dimensions");
  std::vector<Operand> operands = {{x, {}, {}}};
  std::string shape = "(1, -1";
  for (int64_t i = 2; i < x.rank(); ++i) shape += ", 1";
  shape += ")";
  // In the order in which PyTorch rounds: one factor and one summand per channel, then x * scale + shift.
  std::string scale = "(1 / sqrt($3 + $1))", shift = "0";
  PASSNET_TRY(operands.emplace_back(), operand(argument(call, "eps"), "float", ""));
  for (const auto& [name, optional] :
       {std::pair{"running_mean", false}, {"running_var", false}, {"weight", true}, {"bias", true}}) {
    const std::optional<Value> given = optional_tensor(argument(call, name));
    if (!given) {
      if (!optional) return unsupported("batch_norm without running statistics");
      continue;
    }
    std::vector<std::vector<int64_t>> shapes;
    for (const auto& own : given->shapes) {
      shapes.emplace_back(static_cast<size_t>(x.rank()), 1);
      shapes.back()[1] = own[0];
    }
    const Value dense = flat(*given);
    PASSNET_TRY(Value channel, view(fresh(given->name + "_channel"), shapes, dense,
                                    fmt::format("{}.view({})", dense.name, shape), true));
    if (name == std::string_view("weight")) scale = fmt::format("({} * ${})", scale, operands.size());
    if (name == std::string_view("bias")) shift = fmt::format("${}", operands.size());
    operands.push_back({std::move(channel), {}, {}});
  }
  const std::string expression = fmt::format("$0 * {0} + ({1} - $2 * {0})", scale, shift);
  PASSNET_TRY(values_[id], pointwise(std::move(result), operands, expression, "float"));
  return {};
}

Result<void> Writer::glu(NodeId id, const Call& call) {
  PASSNET_TRY(const Value x, tensor(argument(call, "input")));
  PASSNET_TRY(const int64_t dim, dimension(call, "dim", x.rank()));
  PASSNET_TRY(Value result, new_value(id));
  if (types_[x.type].compute != "float") return unsupported("glu of another type than float");
  std::vector<Operand> halves;
  for (const char* start : {"0", "middle"}) {
    const std::string half = fmt::format("{}.shape[{}] // 2", x.name, dim);
    const std::string from = start[0] == '0' ? "0" : half;
    PASSNET_TRY(Value part, view(fresh(x.name + "_half"), result.shapes, x,
                                 fmt::format("{}.narrow({}, {}, {})", x.name, dim, from, half), false));
    halves.push_back({std::move(part), {}, {}});
  }
  PASSNET_TRY(values_[id], pointwise(std::move(result), halves, "$0 * sigmoid($1)", "float"));
  return {};
}

}  // namespace passnet::author
