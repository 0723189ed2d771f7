#include "author/writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "author/subject/part.h"
#include "base/check.h"
#include "base/strings.h"
#include "fx/print.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;
using ir::DType;
using ir::NodeId;

std::string size_product(const std::string& name, int64_t first, int64_t last) {
  if (first >= last) return "1";
  return last - first == 1 ? fmt::format("{}.shape[{}]", name, first)
                           : fmt::format("math.prod({}.shape[{}:{}])", name, first, last);
}

Writer::Writer(Subject& subject, std::string name)
    : subject_(subject), graph_(subject.graph), name_(std::move(name)), values_(graph_.size()) {}

namespace {

std::string_view compute_name(DType dtype) {
  if (dtype == DType::Float64) return "double";
  if (dtype == DType::Bool) return "bool";
  if (ir::is_integral(dtype)) return "int64_t";
  return ir::is_floating(dtype) ? "float" : "";
}

}  // namespace

Result<size_t> Writer::type_of(const std::vector<DType>& by_example) {
  for (size_t i = 0; i < types_.size(); ++i) {
    if (types_[i].by_example == by_example) return i;
  }
  ElementType type;
  type.by_example = by_example;
  type.compute = compute_name(by_example[0]);
  for (const DType dtype : by_example) {
    if (kernel_type(dtype).empty()) return unsupported(fmt::format("no kernel takes {}", ir::name(dtype)));
    if (compute_name(dtype) != type.compute)
      return unsupported(
          fmt::format("{} in one graph and {} in another need two passes", ir::name(by_example[0]), ir::name(dtype)));
    if (dtype != by_example[0]) type.varies = true;
  }
  if (!type.varies) {
    type.plan = fmt::format("torch.{}", ir::name(by_example[0]));
    type.cpp = kernel_type(by_example[0]);
  } else {
    const auto source = std::ranges::find(inputs_, by_example, &std::pair<std::vector<DType>, std::string>::first);
    if (source == inputs_.end()) return unsupported("its dtype differs between the graphs and is that of no input");
    const auto varying = std::ranges::count_if(types_, &ElementType::varies);
    type.plan = source->second;
    type.cpp = varying == 0 ? "T" : fmt::format("T{}", varying);
  }
  types_.push_back(std::move(type));
  return types_.size() - 1;
}

Result<size_t> Writer::constant_type(DType dtype) { return type_of(std::vector<DType>(subject_.types.size(), dtype)); }

Result<Value> Writer::new_value(const std::string& name, const std::vector<ValueType>& types, bool flat) {
  std::vector<DType> dtypes;
  Value value;
  value.name = name;
  value.flat = flat;
  for (const ValueType& type : types) {
    if (!type.is_tensor()) return unsupported("what it gives is no tensor of known type");
    if (type.tensor.shape.size() != types[0].tensor.shape.size())
      return unsupported("its rank differs between the graphs");
    dtypes.push_back(type.tensor.dtype);
    value.shapes.push_back(type.tensor.shape);
  }
  PASSNET_TRY(value.type, type_of(dtypes));
  return value;
}

Result<Value> Writer::new_value(NodeId id, bool flat) {
  return new_value(std::string(graph_.node(id).name), subject_.types_of(id), flat);
}

std::string Writer::fresh(const std::string& stem) {
  std::string name = stem;
  for (int i = 1; subject_.names.contains(name) || !names_.insert(name).second; ++i)
    name = fmt::format("{}_{}", stem, i);
  return name;
}

Value Writer::temporary(const Value& like, std::string_view suffix) {
  Value value = like;
  value.name = fresh(fmt::format("{}_{}", like.name, suffix));
  value.flat = true;
  value.step = -1;
  value.in_group = false;
  return value;
}

Result<void> Writer::input(NodeId id) {
  const std::vector<ValueType> types = subject_.types_of(id);
  const std::string name(graph_.node(id).name);
  if (types[0].kind == ValueType::Kind::Constant) {
    std::vector<DType> dtypes;
    for (const ValueType& type : types) dtypes.push_back(type.dtype);
    if (types[0].constant == ArgKind::DType) inputs_.emplace_back(dtypes, name);
    return {};
  }
  bool flat = true;
  std::vector<DType> dtypes;
  for (const ValueType& type : types) {
    if (!type.is_tensor()) return unsupported("its type is not known");
    flat = flat && type.tensor.is_contiguous();
    dtypes.push_back(type.tensor.dtype);
  }
  inputs_.emplace_back(dtypes, name + ".dtype");
  PASSNET_TRY(values_[id], new_value(id, flat));
  if (device_of_.empty()) device_of_ = name;
  return {};
}

const Value& Writer::stored(const Value& value) {
  if (value.in_group) stored_.insert(value.name);
  return value;
}

Value Writer::flat(const Value& value) {
  if (value.flat) return stored(value);
  Result<Value> copied = copy(value, "flat");
  PASSNET_CHECK(copied.has_value(), "a copy is always possible");
  return stored(*copied);
}

Result<Value> Writer::tensor(const Arg& arg) const {
  if (arg.kind != ArgKind::Node || !values_[arg.node]) return unsupported("an argument is no tensor");
  return *values_[arg.node];
}

std::optional<Value> Writer::optional_tensor(const Arg& arg) const {
  return arg.kind == ArgKind::Node ? values_[arg.node] : std::nullopt;
}

size_t Writer::add_step(Step step) {
  steps_.push_back(std::move(step));
  return steps_.size() - 1;
}

void Writer::require(std::string condition) {
  add_step({{fmt::format("if not ({}):", condition), "    return NotImplemented"}, {}, {}});
}

void Writer::add_line(int64_t step_of_source, std::string text, Value& made) {
  if (step_of_source < 0) {
    prologue_.push_back(std::move(text));
    return;
  }
  made.step = static_cast<int64_t>(add_step({{std::move(text)}, {}, {}}));
}

void Writer::add_kernel(Kernel kernel, std::vector<Value*> outputs, std::span<const std::string> shapes) {
  Step step;
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i]->step = static_cast<int64_t>(steps_.size());
    step.lines.push_back(
        fmt::format("{} = torch.empty({}, dtype={})", outputs[i]->name, shapes[i], types_[outputs[i]->type].plan));
    kernel.parameters.push_back(parameter(*outputs[i], true));
    kernel.arguments.push_back(outputs[i]->name);
  }
  step.kernel = std::move(kernel);
  add_step(std::move(step));
}

const Arg& Writer::argument(const Call& call, std::string_view name) const {
  static const Arg none = Arg::none();
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.names[i] == name) return call.args[i];
  }
  return none;
}

bool Writer::given(const Call& call, std::string_view name) const { return argument(call, name).kind != ArgKind::None; }

bool Writer::is_default(const Call& call, std::string_view name, std::string_view text) const {
  return fx::print_arg(graph_, argument(call, name)) == text;
}

Result<int64_t> Writer::integer(const Call& call, std::string_view name) const {
  const Arg& arg = argument(call, name);
  if (arg.kind != ArgKind::Int)
    return unsupported(fmt::format("'{}' is no integer that is the same in all graphs", name));
  return arg.integer;
}

namespace {
Result<int64_t> wrap(int64_t dim, int64_t rank) {
  const int64_t bound = std::max<int64_t>(rank, 1);
  if (dim < -bound || dim >= bound) return unsupported(fmt::format("dimension {} of a tensor of {}", dim, rank));
  return dim < 0 ? dim + bound : dim;
}
}  // namespace

Result<int64_t> Writer::dimension(const Call& call, std::string_view name, int64_t rank) const {
  PASSNET_TRY(const int64_t dim, integer(call, name));
  return wrap(dim, rank);
}

Result<std::vector<int64_t>> Writer::integers(const Call& call, std::string_view name) const {
  const Arg& arg = argument(call, name);
  if (arg.kind == ArgKind::Int) return std::vector<int64_t>{arg.integer};
  if (arg.kind != ArgKind::Tuple && arg.kind != ArgKind::List)
    return unsupported(fmt::format("'{}' are no integers that are the same in all graphs", name));
  std::vector<int64_t> all;
  for (const Arg& element : graph_.elements(arg)) {
    if (element.kind != ArgKind::Int)
      return unsupported(fmt::format("'{}' are no integers that are the same in all graphs", name));
    all.push_back(element.integer);
  }
  return all;
}

Result<std::vector<int64_t>> Writer::dimensions(const Call& call, std::string_view name, int64_t rank) const {
  std::vector<int64_t> dims;
  if (given(call, name)) {
    PASSNET_TRY(dims, integers(call, name));
  }
  if (dims.empty()) {
    for (int64_t dim = 0; dim < rank; ++dim) dims.push_back(dim);
    return dims;
  }
  for (int64_t& dim : dims) {
    PASSNET_TRY(dim, wrap(dim, rank));
  }
  std::ranges::sort(dims);
  return dims;
}

Result<bool> Writer::flag(const Call& call, std::string_view name) const {
  const Arg& arg = argument(call, name);
  if (arg.kind != ArgKind::Bool) return unsupported(fmt::format("'{}' is not the same in all graphs", name));
  return arg.boolean;
}

Result<std::string> Writer::plan_text(const Arg& arg) const {
  switch (arg.kind) {
    case ArgKind::Node:
      if (graph_.node(arg.node).kind != ir::NodeKind::Placeholder ||
          subject_.types[0][arg.node].kind != ValueType::Kind::Constant)
        return unsupported("an argument is computed by the graph");
      return std::string(graph_.node(arg.node).name);
    case ArgKind::Tuple:
    case ArgKind::List: {
      const auto elements = graph_.elements(arg);
      // A variadic argument whose one item is a whole shape.
      if (elements.size() == 1 && elements[0].kind == ArgKind::Node && subject_.types[0][elements[0].node].length > 0)
        return plan_text(elements[0]);
      std::vector<std::string> parts;
      for (const Arg& element : elements) {
        PASSNET_TRY(parts.emplace_back(), plan_text(element));
      }
      return fmt::format("({}{})", fmt::join(parts, ", "), parts.size() == 1 ? "," : "");
    }
    case ArgKind::Int:
    case ArgKind::Float:
    case ArgKind::Bool:
    case ArgKind::None: return fx::print_arg(graph_, arg);
    default: return unsupported("an argument has no meaning in a plan");
  }
}

Result<void> Writer::node(NodeId id) {
  Result<Call> found = ir::canonicalize(graph_, id);
  if (!found) return unsupported(found.error().message);
  std::string_view name = found->name;
  if (name.ends_with('_')) name.remove_suffix(1);
  PASSNET_TRY(const bool is_view, view_node(id, *found, name));
  if (is_view) return {};
  PASSNET_TRY(const bool is_pointwise, pointwise_node(id, *found, name));
  if (is_pointwise) return {};
  PASSNET_TRY(const bool is_row, row_node(id, *found, name));
  if (is_row) return {};
  PASSNET_TRY(const bool is_table, table_node(id, *found, name));
  if (is_table) return {};
  PASSNET_TRY(const bool is_product, product_node(id, *found, name));
  if (is_product) return {};
  return unsupported(fmt::format("no kernel can be written for {}", quoted(name)));
}

bool Writer::has_kernels() const {
  return std::ranges::any_of(steps_, [](const Step& step) { return step.group || step.kernel; });
}

}  // namespace passnet::author
