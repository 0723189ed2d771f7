// Reductions and norms: operators on rows. A row is a run of neighbouring dimensions of a contiguous tensor, so element
// j of row `i` lies at `at + j * inner`; dimensions that are no neighbours are brought together by a copy.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "author/writer.h"

namespace passnet::author {

using ir::ArgKind;
using ir::NodeId;

namespace {

constexpr std::string_view kStart = "const int64_t at = i / inner * m * inner + i % inner;\n";

}  // namespace

std::string Writer::Rows::length() const { return size_product(x.name, first, last); }
std::string Writer::Rows::inner() const { return size_product(x.name, last, x.rank()); }
std::string Writer::Rows::items() const { return fmt::format("{} * {}", size_product(x.name, 0, first), inner()); }
std::string Writer::Rows::full_shape() const { return x.name + ".shape"; }

Result<Writer::Rows> Writer::rows(const Value& value, std::vector<int64_t> dims) {
  if (dims.empty()) return Rows{flat(value), 0, 0};  // of a tensor without dimensions
  if (dims.back() - dims.front() + 1 == static_cast<int64_t>(dims.size()))
    return Rows{flat(value), dims.front(), dims.back() + 1};
  std::vector<int64_t> order;
  for (int64_t dim = 0; dim < value.rank(); ++dim) {
    if (std::ranges::find(dims, dim) == dims.end()) order.push_back(dim);
  }
  const auto kept = static_cast<int64_t>(order.size());
  order.insert(order.end(), dims.begin(), dims.end());
  PASSNET_TRY(const Value moved, permuted(stored(value), order));
  return Rows{flat(moved), kept, value.rank()};
}

Kernel Writer::row_kernel(const Rows& rows, const std::string& name, std::string_view comment) const {
  Kernel kernel;
  kernel.name = fmt::format("{}_{}", name_, name);
  kernel.comment = fmt::format("{}, one row of `m` elements after the other.", comment);
  kernel.parameters = {parameter(rows.x, false), "int64_t m", "int64_t inner"};
  kernel.arguments = {rows.x.name, rows.length(), rows.inner()};
  kernel.items = rows.items();
  kernel.work = rows.length();
  kernel.compute = types_[rows.x.type].compute;
  return kernel;
}

Result<bool> Writer::row_node(NodeId id, const Call& call, std::string_view name) {
  if (name == "sum" || name == "mean" || name == "prod" || name == "amax" || name == "amin" || name == "any" ||
      name == "all" || name == "var" || name == "std" || name == "logsumexp")
    return done(reduction(id, call, name));
  if (name == "max" || name == "min" || name == "argmax" || name == "argmin") return done(extreme(id, call, name));
  if (name == "norm" || name == "linalg_vector_norm") return done(norm_of(id, call));
  if (name == "softmax" || name == "log_softmax" || name == "softmin") return done(softmax(id, call, name));
  if (name == "normalize") return done(normalize(id, call));
  if (name == "cumsum") return done(cumulative(id, call));
  if (name == "layer_norm" || name == "rms_norm") return done(layer_norm(id, call, name == "rms_norm"));
  if (name == "group_norm") return done(group_norm(id, call));
  return false;
}

// The kernel gives one item per row; its result is shaped as PyTorch's.
Result<void> Writer::finish_reduction(NodeId id, const Rows& rows, Kernel kernel, bool keep) {
  PASSNET_TRY(Value result, new_value(id));
  std::string shape = fmt::format("{0}.shape[:{1}]{2} + {0}.shape[{3}:]", rows.x.name, rows.first,
                                  keep ? fmt::format(" + (1,) * {}", rows.last - rows.first) : "", rows.last);
  if (rows.last == rows.x.rank() && !keep) shape = fmt::format("{}.shape[:{}]", rows.x.name, rows.first);
  add_kernel(std::move(kernel), {&result}, std::span(&shape, 1));
  values_[id] = result;
  return {};
}

Result<void> Writer::reduction(NodeId id, const Call& call, std::string_view name) {
  PASSNET_TRY(const Value x, tensor(argument(call, "input")));
  PASSNET_TRY(const Value result, new_value(id));
  PASSNET_TRY(const std::vector<int64_t> dims, dimensions(call, "dim", x.rank()));
  PASSNET_TRY(const bool keep, flag(call, "keepdim"));
  const bool neighbours = dims.empty() || dims.back() - dims.front() + 1 == static_cast<int64_t>(dims.size());
  PASSNET_TRY(const Rows of, rows(x, dims));
  Kernel kernel = row_kernel(of, result.name, name);
  const std::string element = load(of.x, "at + j * inner");
  const std::string_view in = types_[of.x.type].compute;
  const bool exact = in == "int64_t" || in == "bool";
  const std::string loop = "for (int64_t j = 0; j < m; ++j) ";
  const std::string out = fmt::format("{}_out[i] = ", result.name);
  const auto give = [&](const std::string& text, std::string_view type) {
    return fmt::format("{}{};\n", out, convert(result.type, text, type));
  };
  std::string body(kStart);
  if (name == "sum" || name == "mean") {
    if (name == "mean" && exact) return unsupported("mean of integers");
    const std::string_view sum = exact ? "int64_t" : "double";
    body += fmt::format("{} total = 0;\n{}total += {};\n", sum, loop, element) +
            give(name == "sum" ? "total" : "total / static_cast<double>(m)", sum);
  } else if (name == "prod") {
    const std::string_view type = exact ? "int64_t" : "double";
    body += fmt::format("{} total = 1;\n{}total *= {};\n", type, loop, element) + give("total", type);
  } else if (name == "amax" || name == "amin") {
    body += fmt::format(
                "{} best = {};\nfor (int64_t j = 1; j < m; ++j) {{\n  const {} element = {};\n  if (element {} best || "
                "element != element) best = element;\n}}\n",
                in, load(of.x, "at"), in, element, name == "amax" ? ">" : "<") +
            give("best", in);
  } else if (name == "any" || name == "all") {
    const bool any = name == "any";
    body += fmt::format("bool found = {};\n{}found = found {} {} != 0;\n", !any, loop, any ? "||" : "&&", element) +
            give("found", "bool");
  } else if (name == "logsumexp") {
    if (exact) return unsupported("logsumexp of integers");
    body += fmt::format("double largest = {};\n{}largest = {} > largest ? {} : largest;\n", load(of.x, "at"), loop,
                        element, element);
    body += "const double shift = largest - largest == 0 ? largest : 0;  // not infinite\ndouble total = 0;\n";
    body += fmt::format("{}total += @exp({} - shift);\n", loop, element) + give("@log(total) + shift", "double");
    kernel.compute = "double";
  } else {
    if (exact) return unsupported(fmt::format("{} of integers", name));
    if (given(call, "correction")) return unsupported("'correction' beside 'unbiased'");
    PASSNET_TRY(const bool unbiased, flag(call, "unbiased"));
    body += fmt::format(
        "double total = 0;\n{}total += {};\nconst double mean = total / static_cast<double>(m);\ndouble squares = 0;\n",
        loop, element);
    body += fmt::format("for (int64_t j = 0; j < m; ++j) {{\n  const double d = {} - mean;\n  squares += d * d;\n}}\n",
                        element);
    const std::string variance = fmt::format("squares / static_cast<double>(m{})", unbiased ? " - 1" : "");
    body += give(name == "var" ? variance : fmt::format("@sqrt({})", variance), "double");
    kernel.compute = "double";
  }
  kernel.body = body;
  if (!keep || neighbours) return finish_reduction(id, of, std::move(kernel), keep);
  // Kept dimensions that are no neighbours: the result without them, then a view with them.
  Value narrow = result;
  narrow.name = result.name;
  for (auto& shape : narrow.shapes) {
    for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) shape.erase(shape.begin() + *dim);
  }
  const std::string shape = fmt::format("{}.shape[:{}]", of.x.name, of.first);
  add_kernel(std::move(kernel), {&narrow}, std::span(&shape, 1));
  std::string text = narrow.name;
  for (const int64_t dim : dims) text += fmt::format(".unsqueeze({})", dim);
  PASSNET_TRY(values_[id], view(fresh(result.name + "_kept"), result.shapes, narrow, text, true));
  return {};
}

// max, min, argmax and argmin: of all elements, or the best element of each row and where it is.
Result<void> Writer::extreme(NodeId id, const Call& call, std::string_view name) {
  PASSNET_TRY(const Value x, tensor(argument(call, "input")));
  const bool larger = name.ends_with("max");
  const bool only_where = name.starts_with("arg");
  if (given(call, "other")) {
    PASSNET_TRY(Value result, new_value(id));
    PASSNET_TRY(Operand a, operand(argument(call, "input"), types_[result.type].compute, ""));
    PASSNET_TRY(Operand b, operand(argument(call, "other"), types_[result.type].compute, ""));
    PASSNET_TRY(values_[id],
                pointwise(result, {a, b}, fmt::format("$0 {} $1 || $0 != $0 ? $0 : $1", larger ? ">" : "<"),
                          types_[result.type].compute));
    return {};
  }
  const bool whole = !given(call, "dim");
  std::vector<int64_t> dims;
  bool keep = false;
  if (whole) {
    PASSNET_TRY(dims, dimensions(call, "dim", x.rank()));
  } else {
    PASSNET_TRY(dims.emplace_back(), dimension(call, "dim", x.rank()));
    PASSNET_TRY(keep, flag(call, "keepdim"));
  }
  PASSNET_TRY(const Rows of, rows(x, x.rank() == 0 ? std::vector<int64_t>{} : dims));
  const std::string base(graph_.node(id).name);
  Kernel kernel = row_kernel(of, base, name);
  const std::string_view in = types_[of.x.type].compute;
  kernel.body = fmt::format(
      "{}{} best = {};\nint64_t where = 0;\nfor (int64_t j = 1; j < m; ++j) {{\n  const {} element = {};\n  if "
      "(element {} best || (element != element && best == best)) best = element, where = j;\n}}\n",
      kStart, in, load(of.x, "at"), in, load(of.x, "at + j * inner"), larger ? ">" : "<");
  const std::string shape = fmt::format("{0}.shape[:{1}]{2} + {0}.shape[{3}:]", of.x.name, of.first,
                                        keep ? fmt::format(" + (1,) * {}", of.last - of.first) : "", of.last);
  if (whole || only_where) {
    PASSNET_TRY(Value result, new_value(id));
    kernel.body +=
        fmt::format("{}_out[i] = {};\n", base, only_where ? std::string("where") : convert(result.type, "best", in));
    add_kernel(std::move(kernel), {&result}, std::span(&shape, 1));
    values_[id] = result;
    return {};
  }
  std::vector<std::vector<ValueType>> types(2);
  for (const ValueType& type : subject_.types_of(id)) {
    if (type.list.size() != 2) return unsupported("what it gives is no pair");
    types[0].push_back(type.list[0]);
    types[1].push_back(type.list[1]);
  }
  PASSNET_TRY(Value values, new_value(fresh(base + "_values"), types[0]));
  PASSNET_TRY(Value indices, new_value(fresh(base + "_indices"), types[1]));
  kernel.body +=
      fmt::format("{}_out[i] = {};\n{}_out[i] = where;\n", values.name, convert(values.type, "best", in), indices.name);
  const std::string shapes[] = {shape, shape};
  add_kernel(std::move(kernel), {&values, &indices}, shapes);
  parts_[id] = {values, indices};
  return {};
}

Result<void> Writer::norm_of(NodeId id, const Call& call) {
  PASSNET_TRY(const Value x, tensor(argument(call, "input")));
  PASSNET_TRY(const Value result, new_value(id));
  const std::string_view order = argument(call, "p").kind == ArgKind::None ? "ord" : "p";
  const bool one = is_default(call, order, "1") || is_default(call, order, "1.0");
  const bool two = is_default(call, order, "2") || is_default(call, order, "2.0") || is_default(call, order, "\"fro\"");
  if (!one && !two) return unsupported("a norm of another order than 1 and 2");
  if (types_[x.type].compute != "float" && types_[x.type].compute != "double") return unsupported("a norm of integers");
  PASSNET_TRY(const std::vector<int64_t> dims, dimensions(call, "dim", x.rank()));
  PASSNET_TRY(const bool keep, flag(call, "keepdim"));
  PASSNET_TRY(const Rows of, rows(x, dims));
  if (keep && !dims.empty() && dims.back() - dims.front() + 1 != static_cast<int64_t>(dims.size()))
    return unsupported("kept dimensions that are no neighbours");
  Kernel kernel = row_kernel(of, result.name, one ? "sum of |x|" : "root of the sum of squares");
  kernel.body = fmt::format(
      "{}double total = 0;\nfor (int64_t j = 0; j < m; ++j) {{\n  const double element = {};\n  total += "
      "{};\n}}\n{}_out[i] = {};\n",
      kStart, load(of.x, "at + j * inner"), one ? "element < 0 ? -element : element" : "element * element", result.name,
      convert(result.type, one ? "total" : "@sqrt(total)", "double"));
  kernel.compute = "double";
  return finish_reduction(id, of, std::move(kernel), keep);
}

Result<void> Writer::softmax(NodeId id, const Call& call, std::string_view name) {
  PASSNET_TRY(Value x, tensor(argument(call, "input")));
  PASSNET_TRY(const int64_t dim, dimension(call, "dim", x.rank()));
  PASSNET_TRY(Value result, new_value(id));
  if (types_[x.type].compute != "float" || types_[result.type].compute != "float")
    return unsupported(fmt::format("{} of another type than float", name));
  PASSNET_TRY(const Rows of, rows(x, x.rank() == 0 ? std::vector<int64_t>{} : std::vector<int64_t>{dim}));
  Kernel kernel = row_kernel(of, result.name, name);
  const std::string sign = name == "softmin" ? "-" : "";
  // With `dtype` the elements are converted before.
  const std::string element =
      sign + (given(call, "dtype") ? convert(result.type, load(of.x, "at + j * inner"), "register")
                                   : load(of.x, "at + j * inner"));
  const std::string loop = "for (int64_t j = 0; j < m; ++j) ";
  kernel.body = std::string(kStart) + "float largest = -@inf;\n";
  kernel.body += fmt::format(
      "for (int64_t j = 0; j < m; ++j) {{\n  const float element = {};\n  if (element > largest || element != element) "
      "largest = element;\n}}\n",
      element);
  kernel.body += fmt::format("double total = 0;\n{}total += exp({} - largest);\n", loop, element);
  const std::string out = fmt::format("{}_out[at + j * inner]", result.name);
  if (name == "log_softmax") {
    kernel.body += "const float shift = largest + static_cast<float>(@log(total));\n";
    kernel.body +=
        fmt::format("{}{} = {};\n", loop, out, convert(result.type, fmt::format("{} - shift", element), "float"));
  } else {
    kernel.body += "const float scale = static_cast<float>(1 / total);\n";
    kernel.body += fmt::format("{}{} = {};\n", loop, out,
                               convert(result.type, fmt::format("exp({} - largest) * scale", element), "float"));
  }
  kernel.compute = "double";
  const std::string shape = of.full_shape();
  add_kernel(std::move(kernel), {&result}, std::span(&shape, 1));
  values_[id] = result;
  return {};
}

// x / max(norm, eps), each rounded as PyTorch does, which computes it by four operators.
Result<void> Writer::normalize(NodeId id, const Call& call) {
  PASSNET_TRY(const Value x, tensor(argument(call, "input")));
  PASSNET_TRY(Value result, new_value(id));
  if (!is_default(call, "p", "2") && !is_default(call, "p", "2.0"))
    return unsupported("a norm of another order than 2");
  if (types_[x.type].compute != "float") return unsupported("normalize of another type than float");
  PASSNET_TRY(const std::vector<int64_t> dims, dimensions(call, "dim", x.rank()));
  if (dims.size() != 1) return unsupported("normalize over several dimensions");
  PASSNET_TRY(const Rows of, rows(x, dims));
  PASSNET_TRY(const Operand eps, operand(argument(call, "eps"), "float", ""));
  Kernel kernel = row_kernel(of, result.name, "normalize");
  if (!eps.declared.empty()) {
    kernel.parameters.push_back(fmt::format("{} {}", eps.declared, eps.text));
    kernel.arguments.push_back(eps.text);
  }
  const std::string element = load(of.x, "at + j * inner");
  kernel.body = fmt::format(
      "{}double total = 0;\nfor (int64_t j = 0; j < m; ++j) {{\n  const double element = {};\n  total += element * "
      "element;\n}}\n",
      kStart, element);
  kernel.body += fmt::format("const float norm = {};\n", convert(result.type, "@sqrt(total)", "register"));
  kernel.body += fmt::format("const float least = {};\n", convert(result.type, eps.text, "register"));
  kernel.body += fmt::format("for (int64_t j = 0; j < m; ++j) {}_out[at + j * inner] = {};\n", result.name,
                             convert(result.type, fmt::format("{} / (norm < least ? least : norm)", element), "float"));
  kernel.compute = "double";
  const std::string shape = of.full_shape();
  add_kernel(std::move(kernel), {&result}, std::span(&shape, 1));
  values_[id] = result;
  return {};
}

Result<void> Writer::cumulative(NodeId id, const Call& call) {
  PASSNET_TRY(const Value x, tensor(argument(call, "input")));
  PASSNET_TRY(Value result, new_value(id));
  PASSNET_TRY(const int64_t dim, dimension(call, "dim", x.rank()));
  PASSNET_TRY(const Rows of, rows(x, x.rank() == 0 ? std::vector<int64_t>{} : std::vector<int64_t>{dim}));
  Kernel kernel = row_kernel(of, result.name, "running sum");
  const std::string_view in = types_[of.x.type].compute;
  const std::string_view sum = in == "float" || in == "double" ? "double" : "int64_t";
  kernel.body = fmt::format(
      "{}{} total = 0;\nfor (int64_t j = 0; j < m; ++j) {{\n  total += {};\n  {}_out[at + j * inner] = {};\n}}\n",
      kStart, sum, load(of.x, "at + j * inner"), result.name, convert(result.type, "total", sum));
  const std::string shape = of.full_shape();
  add_kernel(std::move(kernel), {&result}, std::span(&shape, 1));
  values_[id] = result;
  return {};
}

Result<void> Writer::layer_norm(NodeId id, const Call& call, bool rms) {
  PASSNET_TRY(const Value x, tensor(argument(call, "input")));
  PASSNET_TRY(Value result, new_value(id));
  const ir::Arg& shape_arg = argument(call, "normalized_shape");
  const bool whole = shape_arg.kind == ArgKind::Node;  // one input of the pattern for the whole shape
  if (!whole && shape_arg.kind != ArgKind::Tuple && shape_arg.kind != ArgKind::List)
    return unsupported("'normalized_shape' is no shape");
  const auto count = static_cast<int64_t>(whole ? std::max<size_t>(1, subject_.types[0][shape_arg.node].length)
                                                : graph_.elements(shape_arg).size());
  if (types_[x.type].compute != "float") return unsupported("a norm of another type than float");
  if (rms && !given(call, "eps")) return unsupported("rms_norm whose 'eps' is that of the dtype");
  std::vector<int64_t> dims(static_cast<size_t>(count));
  std::iota(dims.begin(), dims.end(), x.rank() - count);
  PASSNET_TRY(const Rows of, rows(x, dims));
  PASSNET_TRY(const Operand eps, operand(argument(call, "eps"), "float", ""));
  const std::optional<Value> weight = optional_tensor(argument(call, "weight")),
                             bias = optional_tensor(argument(call, "bias"));
  std::vector<Value> gains;
  for (const auto& given : {weight, bias}) {
    if (given) gains.push_back(flat(*given));
  }
  Kernel kernel = row_kernel(of, result.name, rms ? "rms_norm" : "layer_norm");
  for (const Value& gain : gains) {
    kernel.parameters.push_back(parameter(gain, false));
    kernel.arguments.push_back(gain.name);
  }
  if (!eps.declared.empty()) {
    kernel.parameters.push_back(fmt::format("{} {}", eps.declared, eps.text));
    kernel.arguments.push_back(eps.text);
  }
  const std::string element = load(of.x, "at + j * inner");
  kernel.body = kStart;
  if (!rms)
    kernel.body += fmt::format(
        "double total = 0;\nfor (int64_t j = 0; j < m; ++j) total += {};\nconst double mean = total / "
        "static_cast<double>(m);\n",
        element);
  kernel.body += fmt::format(
      "double squares = 0;\nfor (int64_t j = 0; j < m; ++j) {{\n  const double d = {}{};\n  squares += d * d;\n}}\n",
      element, rms ? "" : " - mean");
  kernel.body += fmt::format("const double scale = 1 / @sqrt(squares / static_cast<double>(m) + {});\n", eps.text);
  std::string value = fmt::format("({}{}) * scale", element, rms ? "" : " - mean");
  size_t gain = 0;
  if (weight) value += " * " + load(gains[gain++], "j");
  if (bias) value += " + " + load(gains[gain++], "j");
  kernel.body += fmt::format("for (int64_t j = 0; j < m; ++j) {}_out[at + j * inner] = {};\n", result.name,
                             convert(result.type, value, "double"));
  kernel.compute = "double";
  const std::string shape = of.full_shape();
  add_kernel(std::move(kernel), {&result}, std::span(&shape, 1));
  values_[id] = result;
  return {};
}

Result<void> Writer::group_norm(NodeId id, const Call& call) {
  PASSNET_TRY(const Value given, tensor(argument(call, "input")));
  PASSNET_TRY(Value result, new_value(id));
  PASSNET_TRY(const int64_t groups, integer(call, "num_groups"));
  if (types_[given.type].compute != "float") return unsupported("group_norm of another type than float");
  if (given.rank() < 2) return unsupported("group_norm of fewer than two dimensions");
  const Value x = flat(given);
  PASSNET_TRY(const Operand eps, operand(argument(call, "eps"), "float", ""));
  Kernel kernel = row_kernel({x, 1, x.rank()}, result.name, "group_norm");
  kernel.parameters = {parameter(x, false), "int64_t m", "int64_t spatial", "int64_t channels"};
  kernel.arguments = {x.name, fmt::format("{} // {}", size_product(x.name, 1, x.rank()), groups),
                      size_product(x.name, 2, x.rank()), x.name + ".shape[1]"};
  kernel.items = fmt::format("{}.shape[0] * {}", x.name, groups);
  kernel.body = "const int64_t at = i * m;\ndouble total = 0;\n";
  kernel.body +=
      fmt::format("for (int64_t j = 0; j < m; ++j) total += {};\nconst double mean = total / static_cast<double>(m);\n",
                  load(x, "at + j"));
  kernel.body += fmt::format(
      "double squares = 0;\nfor (int64_t j = 0; j < m; ++j) {{\n  const double d = {} - mean;\n  squares += d * "
      "d;\n}}\n",
      load(x, "at + j"));
  kernel.body += fmt::format("const double scale = 1 / @sqrt(squares / static_cast<double>(m) + {});\n", eps.text);
  std::string value = fmt::format("({} - mean) * scale", load(x, "at + j"));
  for (const auto& [name, sign] : {std::pair{"weight", " * "}, {"bias", " + "}}) {
    const std::optional<Value> gain = optional_tensor(argument(call, name));
    if (!gain) continue;
    const Value dense = flat(*gain);
    const std::string declared = parameter(dense, false);
    // One tensor may be both.
    if (std::find(kernel.parameters.begin(), kernel.parameters.end(), declared) == kernel.parameters.end()) {
      kernel.parameters.push_back(declared);
      kernel.arguments.push_back(dense.name);
    }
    value += sign + load(dense, "(at + j) / spatial % channels");
  }
  if (!eps.declared.empty()) {
    kernel.parameters.push_back(fmt::format("{} {}", eps.declared, eps.text));
    kernel.arguments.push_back(eps.text);
  }
  kernel.body += fmt::format("for (int64_t j = 0; j < m; ++j) {}_out[at + j] = {};\n", result.name,
                             convert(result.type, value, "double"));
  kernel.compute = "double";
  const std::string shape = x.name + ".shape";
  add_kernel(std::move(kernel), {&result}, std::span(&shape, 1));
  values_[id] = result;
  return {};
}

}  // namespace passnet::author
