#include "author/subject/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "author/subject/words.h"
#include "ir/copy.h"
#include "ir/ops/table.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;
using ir::Node;
using ir::NodeId;
using ir::NodeKind;

ValueType value_type(const ir::Value& value) {
  ValueType type;
  if (const ir::TensorType* tensor = value.tensor()) {
    type.kind = ValueType::Kind::Tensor;
    type.tensor = *tensor;
  } else if (const auto* list = std::get_if<ir::Value::List>(&value.is)) {
    type.kind = ValueType::Kind::List;
    for (const ir::Value& element : *list) type.list.push_back(value_type(element));
  }
  return type;
}

bool is_sequence(const Arg& arg) { return arg.kind == ArgKind::Tuple || arg.kind == ArgKind::List; }

std::vector<int64_t> sizes_along(const std::vector<ValueType>& types, size_t dim) {
  std::vector<int64_t> sizes;
  for (const ValueType& type : types) sizes.push_back(type.tensor.shape[dim]);
  return sizes;
}

std::vector<ValueType> Subject::types_of(NodeId id) const {
  std::vector<ValueType> all;
  for (const auto& example : types) all.push_back(example[id]);
  return all;
}

namespace {

/// A constant that a pattern's input can stand for: a number, dtype, None, or a tuple of such.
bool can_be_input(const ir::Graph& graph, const Arg& arg) {
  switch (arg.kind) {
    case ArgKind::None:
    case ArgKind::Bool:
    case ArgKind::Int:
    case ArgKind::Float:
    case ArgKind::DType: return true;
    case ArgKind::Tuple:
    case ArgKind::List: {
      const auto elements = graph.elements(arg);
      return std::ranges::all_of(elements, [&](const Arg& element) { return can_be_input(graph, element); });
    }
    default: return false;
  }
}

class Merger {
 public:
  explicit Merger(const std::vector<Example>& examples) : first_(examples[0]) {
    for (const Example& example : examples) {
      const std::string why = &example == &first_ ? std::string() : difference(example);
      if (why.empty())
        examples_.push_back(&example);
      else
        subject_.others.push_back(fmt::format("{}: {}", example.name, why));
    }
  }

  Subject run() {
    const ir::Graph& graph = first_.graph;
    find_constants();
    subject_.types.resize(examples_.size());
    ir::GraphCopy copying(graph, subject_.graph);
    for (NodeId id = 0; id < graph.placeholder_count(); ++id) {
      const Node& node = graph.node(id);
      const std::string_view name = subject_.graph.intern(safe_name(node.name));
      copying.stand_for(id, Arg::of_node(subject_.graph.add_placeholder(name, name)));
      add_types(id);
    }
    for (Constant& constant : constants_) {
      const std::string_view name = subject_.graph.intern(safe_name(constant.name));
      constant.node = subject_.graph.add_placeholder(name, name);
      for (size_t i = 0; i < examples_.size(); ++i)
        subject_.types[i].push_back(constant_type(examples_[i]->graph, *constant.values[i]));
    }
    copying.replace = [this](const Arg& value) -> std::optional<Arg> {
      for (const Constant& constant : constants_) {
        if (constant.values[0] == &value) return Arg::of_node(constant.node);
      }
      return std::nullopt;
    };
    for (NodeId id = graph.placeholder_count(); id < graph.size(); ++id) {
      add_types(id);
      const Node& node = graph.node(id);
      copying.copy(id, node.kind == NodeKind::Output ? std::string() : safe_name(node.name));
    }
    for (const Example* example : examples_) subject_.examples.push_back(example->name);
    subject_.names = std::move(used_);
    return std::move(subject_);
  }

 private:
  struct Constant {
    std::string name;
    std::vector<const Arg*> values;  // by example
    NodeId node = ir::kNoNode;
  };

  /// How `example` differs from the first beyond constants; empty when it does not.
  std::string difference(const Example& example) const {
    const ir::Graph &a = first_.graph, &b = example.graph;
    if (a.size() != b.size() || a.placeholder_count() != b.placeholder_count())
      return fmt::format("{} nodes, expected {} as in {}", b.size(), a.size(), first_.name);
    for (NodeId id = 0; id < a.size(); ++id) {
      const Node &x = a.node(id), &y = b.node(id);
      bool same = x.kind == y.kind && x.arg_count == y.arg_count && x.keyword_count == y.keyword_count &&
                  (x.kind == NodeKind::Placeholder || x.target == y.target);
      for (uint32_t i = 0; same && i < x.arg_count; ++i) same = alike(a, a.args(x)[i], b, b.args(y)[i], splits(x));
      for (uint32_t i = 0; same && i < x.keyword_count; ++i) {
        same = a.keywords(x)[i].name == b.keywords(y)[i].name &&
               alike(a, a.keywords(x)[i].value, b, b.keywords(y)[i].value, splits(x));
      }
      if (!same) return fmt::format("'{}' is called otherwise than in {}", y.name, first_.name);
    }
    return {};
  }

  /// Equal, or constants that one input of a pattern can stand for. split: element by element.
  static bool alike(const ir::Graph& a, const Arg& x, const ir::Graph& b, const Arg& y, bool split) {
    if (ir::equal_args(a, x, b, y)) return true;
    if (!split && can_be_input(a, x) && can_be_input(b, y))
      return x.kind == y.kind || (is_sequence(x) && is_sequence(y));
    if (x.kind != y.kind) return false;
    if (!is_sequence(x) && x.kind != ArgKind::Slice) return can_be_input(a, x);
    if (x.count != y.count) return false;
    for (uint32_t i = 0; i < x.count; ++i) {
      if (!alike(a, a.elements(x)[i], b, b.elements(y)[i], split)) return false;
    }
    return true;
  }

  /// Tells whether a constant tuple is taken apart: in an index, which is written out in the plan, where the items can
  /// be arguments of their own (`x.view(1, -1)`), for which one input cannot stand, and where one number may stand for
  /// a tuple, as of windows.
  static bool splits(const Node& node) {
    const ir::OpSignature* signature = ir::find_signature(node);
    const bool has_windows =
        signature && (signature->flops == ir::FlopRule::Convolution || signature->kernel == ir::KernelClass::Stencil);
    return node.target == "getitem" || has_windows ||
           (signature && std::ranges::any_of(signature->parameters, &ir::Parameter::variadic));
  }

  void find_constants() {
    const ir::Graph& graph = first_.graph;
    for (NodeId id = graph.placeholder_count(); id < graph.size(); ++id) {
      const Node& node = graph.node(id);
      const ir::OpSignature* signature = ir::find_signature(node);
      for (uint32_t i = 0; i < node.arg_count; ++i) {
        std::vector<const Arg*> values;
        for (const Example* example : examples_) values.push_back(&example->graph.args(id)[i]);
        const size_t at = signature ? std::min<size_t>(i, signature->parameters.size() - 1) : 0;
        const bool named = signature && !signature->parameters.empty() && i > 0;
        find_in(values, named ? std::string(signature->parameters[at].name) : "constant", splits(node));
      }
      for (uint32_t i = 0; i < node.keyword_count; ++i) {
        std::vector<const Arg*> values;
        for (const Example* example : examples_) values.push_back(&example->graph.keywords(id)[i].value);
        find_in(values, std::string(graph.keywords(id)[i].name), splits(node));
      }
    }
  }

  void find_in(const std::vector<const Arg*>& values, const std::string& name, bool split) {
    const Arg& value = *values[0];
    bool same = true;
    for (size_t i = 1; i < values.size() && same; ++i)
      same = ir::equal_args(first_.graph, value, examples_[i]->graph, *values[i]);
    if (same) return;
    const bool whole = can_be_input(first_.graph, value) && !(split && is_sequence(value));
    if (whole) {
      constants_.push_back({value.kind == ArgKind::DType ? "dtype" : name, values, ir::kNoNode});
      return;
    }
    for (uint32_t e = 0; e < value.count; ++e) {
      std::vector<const Arg*> elements;
      for (size_t i = 0; i < values.size(); ++i) elements.push_back(&examples_[i]->graph.elements(*values[i])[e]);
      find_in(elements, name, split);
    }
  }

  static ValueType constant_type(const ir::Graph& graph, const Arg& value) {
    ValueType type;
    type.kind = ValueType::Kind::Constant;
    type.constant = value.kind;
    if (value.kind == ArgKind::DType) type.dtype = value.dtype;
    if (value.kind == ArgKind::Int) type.integers = {value.integer};
    if (!is_sequence(value)) return type;
    type.length = value.count;
    for (const Arg& element : graph.elements(value)) {
      if (element.kind == ArgKind::Int) type.integers.push_back(element.integer);
    }
    if (type.integers.size() != type.length) type.integers.clear();
    return type;
  }

  void add_types(NodeId id) {
    for (size_t i = 0; i < examples_.size(); ++i) {
      const auto& types = examples_[i]->types;
      subject_.types[i].push_back(id < types.size() ? types[id] : ValueType{});
    }
  }

  std::string safe_name(std::string_view name) {
    std::string safe(name);
    // In capitals stand what kernels have as constants.
    if (std::ranges::none_of(name, [](unsigned char c) { return std::islower(c) != 0; }))
      std::ranges::transform(safe, safe.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (language_words().contains(safe) || kernel_words().contains(safe)) safe += "_0";
    const std::string stem = safe;
    for (int i = 1; !used_.insert(safe).second; ++i) safe = fmt::format("{}_{}", stem, i);
    return safe;
  }

  const Example& first_;
  std::vector<const Example*> examples_;
  std::vector<Constant> constants_;
  std::set<std::string> used_;
  Subject subject_;
};

}  // namespace

Subject merge(const std::vector<Example>& examples) { return Merger(examples).run(); }

}  // namespace passnet::author
