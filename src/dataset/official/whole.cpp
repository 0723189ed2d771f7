#include "dataset/official/whole.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/text/strings.h"
#include "fx/syntax/parser.h"
#include "fx/trace_names.h"
#include "graphdir/graph_facts.h"
#include "ir/copy.h"

namespace passnet::dataset::official {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;
using ir::NodeKind;

namespace {

bool calls(const ir::Node& node, std::string_view target) {
  return node.kind == NodeKind::CallFunction && node.target == target;
}

constexpr std::string_view kCheck = "torch._check_is_size", kAssert = "torch.ops.aten._assert_scalar.default";

// The check that is missing behind an assertion: of the size that is compared there.
struct MissingCheck {
  NodeId behind = ir::kNoNode;
  NodeId size = ir::kNoNode;
};

MissingCheck find_missing_check(const ir::Graph& graph) {
  MissingCheck missing;
  if (std::ranges::none_of(graph.nodes(), [](const ir::Node& node) { return calls(node, kCheck); })) return missing;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const auto args = graph.args(id);
    if (!calls(graph.node(id), kAssert) || args.empty() || args[0].kind != ArgKind::Node) continue;
    for_each_input(graph, graph.node(args[0].node), [&](NodeId size) { missing = {id, size}; });
  }
  return missing;
}

// "… on node 'ge'" -> "… on node 'ge_1'"
std::optional<std::string> renamed_assertion(std::string_view text) {
  constexpr std::string_view kNode = " on node '";
  if (text.find(kNode) == std::string_view::npos || !text.ends_with('\'')) return std::nullopt;
  return fmt::format("{}_1'", text.substr(0, text.size() - 1));
}

// By argument: it serves as an index, maybe after methods that change its shape.
std::vector<bool> index_arguments(const ir::Graph& graph) {
  std::vector<bool> indices(graph.placeholder_count());
  for (const ir::Node& node : graph.nodes()) {
    if (node.kind != NodeKind::Operator || node.target != "getitem") continue;
    for_each_node(graph, graph.args(node)[1], [&](NodeId index) {
      while (graph.node(index).kind == NodeKind::CallMethod) index = graph.args(index)[0].node;
      if (index < indices.size()) indices[index] = true;
    });
  }
  return indices;
}

// Shapes as captured, and what a tensor without any more knowledge is: int64 where it is an index, else float32.
Result<std::vector<graphdir::TensorMeta>> assumed_records(const ir::Graph& graph,
                                                          const graphdir::Constraints& constraints) {
  std::vector<graphdir::TensorMeta> records;
  const std::vector<bool> indices = index_arguments(graph);
  for (NodeId id = 0; id < graph.placeholder_count(); ++id) {
    const std::string name(graph.node(id).target);
    const auto input = std::ranges::find(constraints.inputs, name, &graphdir::Constraints::Input::name);
    if (input == constraints.inputs.end())
      return bad_input(fmt::format("argument {} has neither a record in weight_meta.py nor a shape in "
                                   "input_tensor_constraints.py",
                                   quoted(name, 200)),
                       graph.locate(graph.node(id)));
    graphdir::TensorMeta& record = records.emplace_back();
    record.class_name = "Program_weight_tensor_meta_" + name;
    record.name = name;
    for (const graphdir::ShapeExpression& size : input->shape)
      record.shape.push_back(evaluate(size, constraints.examples).value_or(0));
    record.device = "cuda:0";
    record.has_mean = record.has_std = true;
    if (indices[id]) {
      record.dtype = ir::DType::Int64;
      record.min_value = record.max_value = 0;
    } else {
      record.mean = 0.0;
      record.stddev = 1.0;
    }
  }
  return records;
}

// GraphNet has a few models whose weight_meta.py is missing or empty.
Result<bool> has_no_records(const std::filesystem::path& path) {
  if (!entry_exists(path / "weight_meta.py")) return true;
  PASSNET_TRY(const std::string text, read_beneath(path, "weight_meta.py", FileKind::Graph));
  return trim(text).empty();
}

}  // namespace

Result<Whole> load_whole(const std::filesystem::path& given) {
  const std::filesystem::path path = graphdir::graph_directory(given).value_or(given);
  Whole whole;
  if (const std::filesystem::path file = path / "input_tensor_constraints.py"; entry_exists(file)) {
    PASSNET_TRY(const std::string text, read_beneath(path, file.filename(), FileKind::Graph));
    PASSNET_TRY(whole.constraints, graphdir::parse_constraints(file.string(), text));
  }
  PASSNET_TRY(whole.assumed_records, has_no_records(path));
  if (whole.assumed_records) {
    whole.dir.path = path;
    PASSNET_TRY(whole.dir.graph, fx::load_model((path / "model.py").string()));
    PASSNET_TRY(whole.dir.weights, assumed_records(whole.dir.graph, whole.constraints));
  } else {
    PASSNET_TRY(whole.dir, graphdir::load_graph_dir(path));
    std::ranges::move(whole.dir.inputs, std::back_inserter(whole.dir.weights));
    whole.dir.inputs.clear();
    PASSNET_TRY_VOID(graphdir::match_records(whole.dir));
  }
  whole.dir.graph = as_counted(whole.dir.graph);
  whole.facts = graphdir::read_facts(path);
  whole.facts_text = "{}";
  if (entry_exists(path / "graph_net.json")) {
    PASSNET_TRY(whole.facts_text, read_beneath(path, "graph_net.json", FileKind::Facts));
  }
  return whole;
}

ir::Graph as_counted(const ir::Graph& graph) {
  const MissingCheck missing = find_missing_check(graph);
  ir::Graph made;
  made.file = graph.file;
  ir::GraphCopy copying(graph, made);
  copying.replace = [&](const Arg& literal) -> std::optional<Arg> {
    if (literal.kind == ArgKind::Device && literal.string() == "cpu")
      return Arg::of_text(ArgKind::Device, made.intern("cuda"));
    if (literal.kind != ArgKind::String || missing.behind == ir::kNoNode) return std::nullopt;
    const std::optional<std::string> text = renamed_assertion(literal.string());
    return text ? std::optional(Arg::of_text(ArgKind::String, made.intern(*text))) : std::nullopt;
  };
  for (NodeId id = 0; id < graph.size(); ++id) {
    copying.copy(id);
    if (id != missing.behind) continue;
    copying.add(NodeKind::CallFunction, kCheck, "_check_is_size_of_second_trace", {&copying.here(missing.size), 1});
  }
  return made;
}

std::vector<std::string> traced_names(const ir::Graph& graph) {
  fx::TraceNames tracing(graph, fx::Numbering::FromOne);
  std::vector<std::string> names;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const ir::Node& node = graph.node(id);
    names.push_back(node.kind == NodeKind::Placeholder ? std::string(node.target)
                    : node.kind == NodeKind::Output    ? std::string(node.name)
                                                       : tracing.next(id));
  }
  return names;
}

}  // namespace passnet::dataset::official
