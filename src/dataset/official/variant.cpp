#include "dataset/official/variant.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text/strings.h"
#include "dataset/official/listing.h"
#include "dataset/official/shape_rows.h"
#include "dataset/sizes/data_symbols.h"
#include "graphdir/graph_facts.h"
#include "graphdir/inputs/replay.h"
#include "ir/copy.h"
#include "ir/tensor_type.h"
#include "run/batch/job.h"
#include "run/worker/requests.h"

namespace passnet::dataset::official {

using graphdir::TensorMeta;
using ir::NodeId;

namespace {

constexpr const char* kLoaded = run::SlotWorkers::kGraph;
/// A model with more elements in its arguments is not run.
constexpr int64_t kMostElements = 800'000'000;

std::vector<std::string> passes_of(const Json& facts) {
  std::vector<std::string> passes;
  const auto found = facts.find("dimension_generalization_passes");
  if (found == facts.end() || !found->is_array()) return passes;
  for (const Json& pass : *found) {
    if (pass.is_string()) passes.push_back(pass.get<std::string>());
  }
  return passes;
}

// By node id: what the wanted values are computed from, themselves included.
std::vector<bool> ancestors(const ir::Graph& graph, const std::set<NodeId>& wanted) {
  std::vector<bool> needed(graph.size());
  for (NodeId id = graph.size(); id-- > 0;) {
    if (wanted.contains(id)) needed[id] = true;
    if (needed[id]) for_each_input(graph, graph.node(id), [&](NodeId input) { needed[input] = true; });
  }
  // What changes one of them in its place belongs to them.
  for (NodeId id = graph.placeholder_count(); id < graph.size(); ++id) {
    const ir::Node& node = graph.node(id);
    const auto args = graph.args(id);
    const bool in_place = node.kind != ir::NodeKind::Output && (node.target == "setitem" || node.target.ends_with('_'));
    if (in_place && !args.empty() && args[0].kind == ir::ArgKind::Node && needed[args[0].node] && !needed[id]) {
      std::set<NodeId> more = wanted;
      more.insert(id);
      return ancestors(graph, more);
    }
  }
  return needed;
}

// The part of the graph that the wanted values need, which returns them.
graphdir::GraphDir part_of(const ir::Graph& graph, const std::vector<TensorMeta>& records,
                           const std::set<NodeId>& wanted) {
  const std::vector<bool> needed = ancestors(graph, wanted);
  graphdir::GraphDir part;
  part.graph.file = graph.file;
  ir::GraphCopy copying(graph, part.graph);
  std::vector<ir::Arg> results;
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!needed[id]) continue;
    copying.copy(id);
    if (id < graph.placeholder_count()) part.weights.push_back(records[id]);
    if (wanted.contains(id)) results.push_back(copying.here(id));
  }
  part.graph.add_output(part.graph.make_container(ir::ArgKind::Tuple, results));
  return part;
}

// By node id: all arguments that it is computed from are recorded element by element.
std::vector<bool> derived_values(const ir::Graph& graph, const std::vector<TensorMeta>& records) {
  std::vector<bool> derived(graph.size());
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (id < graph.placeholder_count()) {
      derived[id] = records[id].int_data.has_value();
      continue;
    }
    derived[id] = true;
    for_each_input(graph, graph.node(id), [&](NodeId input) { derived[id] = derived[id] && derived[input]; });
  }
  return derived;
}

bool is_floating(const ir::Values& types, NodeId id) {
  const ir::TensorType* type = ir::tensor_type(types, id);
  return type != nullptr && ir::is_floating(type->dtype);
}

bool has_elements(const ir::Values& types, NodeId id, size_t count) {
  return ir::tensor_type(types, id)->numel() == static_cast<int64_t>(count);
}

}  // namespace

Result<std::vector<TensorMeta>> Variants::records_at(int variant) const {
  if (variant == kCapturedVariant) return whole_.dir.weights;
  const std::string signature = graphdir::signature(whole_.constraints);
  const auto rows = shape_rows(graphdir::text_of(*whole_.facts, "symbolic_dimension_reifier"), signature);
  if (rows.empty())
    return unsupported(fmt::format("PassBench's tables have no sizes for {}, expected variant {} alone",
                                   signature == "[]" ? "a model without symbols" : signature, kCapturedVariant));
  const graphdir::GraphDir* const captures[] = {&whole_.dir};
  const std::vector<DataSymbol> symbols = find_symbols(captures, whole_.constraints);
  const std::vector<int64_t>& row = rows.at(static_cast<size_t>(variant));
  if (symbols.size() != row.size())
    return bad_input(fmt::format("{} symbols stand in the shapes of arguments, expected {} for {}", symbols.size(),
                                 row.size(), signature));
  return resized(whole_.dir.weights, symbols, row);
}

Result<ir::Values> Variants::infer(const ir::Graph& graph, const std::vector<TensorMeta>& records) {
  if (!worker_.alive()) PASSNET_TRY_VOID(worker_.start());
  PASSNET_TRY_VOID(run::load_graph(worker_, kLoaded, graph, {}, {}, timeout_));
  return run::infer_types(worker_, kLoaded, graph, graphdir::Metas{records, {}}, timeout_);
}

Result<void> Variants::make_sized() {
  if (sized_) return {};
  ir::Graph traced = whole_.dir.graph;
  names_ = traced_names(traced);
  for (NodeId id = traced.placeholder_count(); id < traced.size(); ++id) traced.rename(id, traced.intern(names_[id]));
  PASSNET_TRY(captured_types_, infer(traced, whole_.dir.weights));
  PASSNET_TRY(sized_,
              apply_size_passes(traced, captured_types_, passes_of(*whole_.facts), changing_sizes(whole_.constraints)));
  return {};
}

Result<Variant> Variants::at(int variant) {
  Variant made;
  PASSNET_TRY(made.values.records, records_at(variant));
  made.values.assumed_records = whole_.assumed_records;
  if (variant == kCapturedVariant) {
    made.graph = whole_.dir.graph;
    made.names = traced_names(made.graph);
    made.misfits.resize(made.graph.size());
    PASSNET_TRY(made.values.types, infer(made.graph, made.values.records));
    return made;
  }
  PASSNET_TRY_VOID(make_sized());
  PASSNET_TRY(const ir::Values types, infer(sized_->graph, made.values.records));
  NumberedGraph numbered = with_numbers(*sized_, types);
  made.graph = std::move(numbered.graph);
  made.misfits = std::move(numbered.unknown);
  for (NodeId id = 0; id < sized_->graph.size(); ++id) {
    if (!sized_->is_size[id]) made.values.types.push_back(types[id]);
  }
  for (NodeId id = 0; id < made.graph.size(); ++id) {
    const ir::Value::Unknown* unknown = made.values.types[id].unknown();
    if (unknown != nullptr && captured_types_[id].unknown() == nullptr && made.misfits[id].empty())
      made.misfits[id] = first_line(unknown->why);
  }
  // The passes leave a text that is traced again; without them the model is traced once.
  made.names = sized_->rewritten ? traced_names(made.graph) : names_;
  return made;
}

Result<ir::Values> Variants::trace(const ir::Graph& graph, const std::vector<TensorMeta>& records,
                                   const std::set<NodeId>& wanted) {
  const graphdir::GraphDir part = part_of(graph, records, wanted);
  std::vector<std::string> names;
  for (const NodeId id : wanted) names.emplace_back(graph.node(id).name);
  if (!worker_.alive()) PASSNET_TRY_VOID(worker_.start());
  PASSNET_TRY_VOID(run::load_graph(worker_, kLoaded, part.graph, {}, {}, timeout_));
  PASSNET_TRY_VOID(run::replay_inputs(worker_, kLoaded, part, graphdir::kReplaySeed, timeout_));
  PASSNET_TRY(const ir::Values found, run::trace_graph(worker_, kLoaded, part.graph, timeout_, names));
  // Back to the ids of the whole graph.
  ir::Values values(graph.size());
  const std::vector<bool> needed = ancestors(graph, wanted);
  NodeId next = 0;
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (needed[id]) values[id] = found.at(next++);
  }
  return values;
}

Result<void> Variants::measure(const std::set<NodeId>& wanted) {
  if (wanted.empty()) return {};
  int64_t elements = 0;
  for (const TensorMeta& record : whole_.dir.weights) elements += ir::contiguous(record.dtype, record.shape).numel();
  if (elements > kMostElements)
    return unsupported(fmt::format("its arguments have {} elements, at most {} are run", elements, kMostElements));
  PASSNET_TRY(const ir::Values values, trace(whole_.dir.graph, whole_.dir.weights, wanted));
  for (const NodeId id : wanted) {
    if (values[id].statistics) captured_figures_.emplace(id, *values[id].statistics);
  }
  return {};
}

Result<void> Variants::add_figures(Variant& variant, const std::set<NodeId>& wanted) {
  VariantValues& values = variant.values;
  values.measured.resize(variant.graph.size());
  values.derived = derived_values(variant.graph, values.records);
  std::set<NodeId> others;
  for (const NodeId id : wanted) {
    const auto found = captured_figures_.find(id);
    if (!is_floating(values.types, id)) {
      others.insert(id);
    } else if (found != captured_figures_.end()) {
      values.measured[id] = found->second;
      // Literal data of another shape would be of another length.
      if (found->second.float_data && !has_elements(values.types, id, found->second.float_data->size()))
        values.measured[id]->float_data.reset();
    }
  }
  if (others.empty()) return {};
  PASSNET_TRY(const ir::Values found, trace(variant.graph, values.records, others));
  for (const NodeId id : others) values.measured[id] = found[id].statistics;
  return {};
}

}  // namespace passnet::dataset::official
