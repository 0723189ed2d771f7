#include "run/evaluate/prepared_reference.h"

#include <utility>

#include "analysis/shape_inputs.h"

namespace passnet::run {

namespace {

std::vector<bool> outputs_owned(const std::vector<record::Layout>& layouts) {
  std::vector<bool> owned;
  for (const record::Layout& layout : layouts) owned.push_back(layout.shares.empty());
  return owned;
}

/// How the contents of each input may be redrawn.
void note_shape_inputs(graphdir::GraphDir& graph) {
  const std::vector<graphdir::Redraw> redraws = analysis::shape_inputs(graph);
  for (ir::NodeId id = 0; id < redraws.size(); ++id) {
    if (graphdir::TensorMeta* record = graph.find_record(graph.graph.node(id).target)) record->redraw = redraws[id];
  }
}

}  // namespace

Result<void> PreparedReference::parse() {
  if (graph_) return {};
  PASSNET_TRY(graph_, graphdir::load_graph_dir(files_, path_, options_.operators));
  note_shape_inputs(*graph_);
  return {};
}

Result<void> PreparedReference::load() {
  if (is_loaded() && rewind(reference_, kId, options_.timeout)) return {};
  loaded_in_ = 0;
  has_inputs_ = false;
  PASSNET_TRY_VOID(load_graph(reference_, kId, graph_->graph, {}, {}, options_.timeout));
  loaded_in_ = reference_.starts();
  return {};
}

Result<void> PreparedReference::draw_inputs() {
  if (has_inputs_) return {};
  PASSNET_TRY(inputs_, replay_inputs(reference_, kId, *graph_, options_.seed, options_.timeout, record::kRecordedKind,
                                     options_.is_kept));
  has_inputs_ = true;
  return {};
}

Result<void> PreparedReference::run() {
  if (options_.shares_outputs) {
    PASSNET_TRY(Outputs outputs, run_graph(reference_, kId, false, options_.timeout));
    owned_ = outputs_owned(outputs.layouts);
    expected_ = std::move(outputs.tensors);
    return {};
  }
  // They are copied out of the worker only for whoever wants to see them.
  PASSNET_TRY(const std::vector<record::Layout> layouts,
              run_alone(reference_, kId, false, options_.timeout, !options_.is_kept));
  owned_ = outputs_owned(layouts);
  return {};
}

record::DeviceMemory PreparedReference::forget() {
  loaded_in_ = 0;
  has_inputs_ = false;
  return forget_graph(reference_, kId, options_.timeout);
}

}  // namespace passnet::run
