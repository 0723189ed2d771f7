#include "exchange/graphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "base/text/lines.h"
#include "base/text/strings.h"
#include "graphdir/graph_writer.h"
#include "graphdir/inputs/meta.h"
#include "graphdir/sample.h"
#include "ir/copy.h"

namespace passnet::exchange {

namespace {

/// Inputs are drawn with a fifth of the deviation that is recorded (docs/graphs.md).
constexpr double kRecordedDeviation = 5;

struct Workload {
  std::vector<graphdir::TensorMeta> metas;
  std::map<std::string, Json, std::less<>> scalars;
  std::string name;  // of the graph
  std::string why;   // it is left out; empty: it is not
};

std::string type_of(const Json& input) { return input.is_object() ? plain_text(input.value("type", Json())) : ""; }

/// Sizes of the axes by name; sets the graph's name too.
Result<std::map<std::string, int64_t>> read_sizes(const Definition& definition, const Json& axes, Workload& workload) {
  std::map<std::string, int64_t> sizes;
  for (const Axis& axis : definition.axes) {
    if (axis.value) {
      sizes[axis.name] = *axis.value;
      continue;
    }
    const auto found = axes.is_object() ? axes.find(axis.name) : axes.end();
    if (found == axes.end() || !found->is_number_integer() || found->get<int64_t>() < 1)
      return bad_input(fmt::format("axis '{}': expected a size of 1 or more, found {}", axis.name,
                                   found == axes.end() ? "none" : quoted(compact(*found), 40)));
    sizes[axis.name] = found->get<int64_t>();
    workload.name += fmt::format("{}{}_{}", workload.name.empty() ? "" : "_", axis.name, sizes[axis.name]);
  }
  if (workload.name.empty()) workload.name = "only";
  return sizes;
}

graphdir::TensorMeta random_tensor(const Argument& input, const std::map<std::string, int64_t>& sizes) {
  graphdir::TensorMeta meta;
  meta.class_name = "Program_weight_tensor_meta_" + input.name;
  meta.name = input.name;
  for (const std::string& axis : input.axes) meta.shape.push_back(sizes.at(axis));
  meta.dtype = input.dtype;
  meta.device = "cpu";
  meta.has_mean = meta.has_std = true;
  meta.mean = 0;
  meta.stddev = kRecordedDeviation;
  return meta;
}

Result<Workload> read_workload(const Definition& definition, const Json& line) {
  const Json of = line.is_object() ? line.value("workload", Json()) : Json();
  if (!of.is_object() || !of.contains("axes") || !of.contains("inputs"))
    return bad_input("expected an object 'workload' with 'axes' and 'inputs'");
  Workload workload;
  PASSNET_TRY(const auto sizes, read_sizes(definition, of.at("axes"), workload));
  const Json& inputs = of.at("inputs");
  for (const Argument& input : definition.inputs) {
    const Json given = inputs.is_object() ? inputs.value(input.name, Json()) : Json();
    const std::string type = type_of(given);
    if (input.is_scalar && type == "scalar" &&
        (given.value("value", Json()).is_number() || given["value"].is_boolean()))
      workload.scalars[input.name] = given["value"];
    else if (input.is_scalar || type != "random")
      workload.why = fmt::format("input '{}' is of type {}, expected {}", input.name, quoted(type),
                                 input.is_scalar ? "'scalar'" : "'random'");
    else if (!ir::is_floating(input.dtype) && input.dtype != ir::DType::Bool)
      workload.why = fmt::format("input '{}' is of random {}, without bounds", input.name, ir::name(input.dtype));
    else
      workload.metas.push_back(random_tensor(input, sizes));
  }
  return workload;
}

ir::Arg constant(const Json& value) {
  if (value.is_boolean()) return ir::Arg::of_bool(value.get<bool>());
  if (value.is_number_integer()) return ir::Arg::of_int(value.get<int64_t>());
  return ir::Arg::of_float(value.get<double>());
}

/// The reference with its scalars as constants; a graph returns a tuple.
ir::Graph graph_of(const Definition& definition, const Workload& workload) {
  const ir::Graph& from = definition.graph;
  ir::Graph graph;
  ir::GraphCopy copy(from, graph);
  for (ir::NodeId id = 0; id < from.size(); ++id) {
    const ir::Node& node = from.node(id);
    const auto scalar =
        node.kind == ir::NodeKind::Placeholder ? workload.scalars.find(node.target) : workload.scalars.end();
    if (scalar != workload.scalars.end()) {
      copy.stand_for(id, constant(scalar->second));
    } else if (node.kind == ir::NodeKind::Output && from.args(id)[0].kind != ir::ArgKind::Tuple) {
      graph.add_output(graph.make_container(ir::ArgKind::Tuple, copy.arguments(id)));
    } else {
      copy.copy(id);
    }
  }
  return graph;
}

Result<fs::path> write_graph(const Definition& definition, const Workload& workload, const fs::path& directory) {
  const fs::path path = directory / workload.name;
  const Json facts{{"framework", "torch"}, {"model_name", definition.name}, {"source", "FlashInfer-Trace"}};
  PASSNET_TRY_VOID(
      graphdir::write_graph_dir(path, {graph_of(definition, workload), workload.metas, facts, Json(nullptr)}));
  // Names that no graph may have show here, and tensors that are too large.
  PASSNET_TRY_VOID(graphdir::load_graph_dir(path));
  return path;
}

}  // namespace

Result<WorkloadGraphs> write_graphs(const Definition& definition, const fs::path& workloads,
                                    const fs::path& directory) {
  WorkloadGraphs graphs;
  Result<void> status;
  const auto use = [&](uint32_t number, std::string_view text) -> Result<void> {
    PASSNET_TRY(const Json line, parse_json(text, workloads.string()));
    PASSNET_TRY(const Workload workload, read_workload(definition, line));
    if (!workload.why.empty()) {
      graphs.left.emplace_back(number, workload.why);
      return {};
    }
    PASSNET_TRY(fs::path path, write_graph(definition, workload, directory));
    if (!std::ranges::count(graphs.written, path)) graphs.written.push_back(std::move(path));
    return {};
  };
  PASSNET_TRY_VOID(for_each_line_of(workloads, [&](uint32_t number, std::string_view text, bool) {
    status = use(number, text);
    if (!status && (!status.error().at || status.error().at->file == workloads.string()))
      status.error().at = SourceLoc{workloads.string(), number, 1};
    return status.has_value();
  }));
  PASSNET_TRY_VOID(std::move(status));
  return graphs;
}

}  // namespace passnet::exchange
