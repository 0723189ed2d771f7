#include "dataset/cut_graph.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/cut.h"
#include "analysis/op_name.h"
#include "base/file/file.h"
#include "base/text/strings.h"
#include "dataset/pieces/describe.h"
#include "graphdir/graph_facts.h"
#include "graphdir/graph_writer.h"
#include "graphdir/inputs/replay.h"
#include "run/worker/requests.h"

namespace passnet::dataset {

namespace {

Result<ir::Values> values_before(run::Worker& worker, const graphdir::GraphDir& whole, const analysis::Piece& piece,
                                 const CutOptions& options) {
  constexpr const char* kId = "cut";
  PASSNET_TRY_VOID(run::load_graph(worker, kId, whole.graph, {}, {}, options.timeout));
  if (!options.measure) return run::infer_types(worker, kId, whole, options.timeout);
  PASSNET_TRY_VOID(run::replay_inputs(worker, kId, whole, graphdir::kReplaySeed, options.timeout));
  return run::trace_graph(worker, kId, whole.graph, options.timeout, computed_inputs(piece, whole.graph));
}

/// Every value that flows into the piece is a tensor. Errors: Unsupported at the node that makes another value.
Result<void> check_inputs(const analysis::Piece& piece, const ir::Graph& whole, const ir::Values& values) {
  for (const ir::NodeId input : piece.inputs) {
    const ir::Node& node = whole.node(input);
    if (node.kind == ir::NodeKind::Placeholder || values.at(input).tensor() != nullptr) continue;
    const size_t place = input - whole.placeholder_count();
    return unsupported(fmt::format("{} flows into the range and is no tensor, expected tensors", quoted(node.name)),
                       whole.locate(node))
        .with_hint(fmt::format("begin the range at its node, {} ({})", place, analysis::op_name(node)));
  }
  return {};
}

}  // namespace

Result<void> cut_graph(run::Worker& worker, const graphdir::GraphDir& whole, analysis::Range range,
                       const std::filesystem::path& out, const CutOptions& options) {
  const size_t size = analysis::body_size(whole.graph);
  if (range.start >= range.end || range.end > size)
    return bad_input(
        fmt::format("range {}:{}: expected a start before its end, and an end of at most {}, the number "
                    "of nodes of '{}'",
                    range.start, range.end, size, whole.path.string()));
  if (entry_exists(out)) return bad_input(fmt::format("'{}' exists already, expected a new directory", out.string()));
  const analysis::Piece piece = analysis::cut(whole.graph, range);
  if (piece.outputs.empty()) return unsupported("nothing after the range uses a value that it makes");
  PASSNET_TRY(const ir::Values values, values_before(worker, whole, piece, options));
  PASSNET_TRY_VOID(check_inputs(piece, whole.graph, values));
  PASSNET_TRY(const std::vector<graphdir::TensorMeta> metas, describe_inputs(piece, whole, values));
  Json facts = graphdir::read_facts(whole.path);
  facts["start"] = range.start;
  facts["end"] = range.end;
  return graphdir::write_graph_dir(out, {piece.graph, metas, facts, Json(nullptr)});
}

}  // namespace passnet::dataset
