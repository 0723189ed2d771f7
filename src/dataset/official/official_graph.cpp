#include "dataset/official/official_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/cut.h"
#include "analysis/op_name.h"
#include "base/file/file.h"
#include "base/hash.h"
#include "dataset/official/piece.h"
#include "dataset/official/typed_piece.h"
#include "fx/print.h"
#include "fx/upstream_text.h"
#include "graphdir/graph_hash.h"

namespace passnet::dataset::official {

namespace {

// The types of the piece's values, which are those of the model's.
ir::Values piece_types(const analysis::Piece& piece, const Variant& variant, ir::NodeId first) {
  ir::Values types;
  for (const ir::NodeId input : piece.inputs) types.push_back(variant.values.types[input]);
  for (size_t i = 0; i < analysis::body_size(piece.graph); ++i) types.push_back(variant.values.types[first + i]);
  types.emplace_back();  // of the output
  return types;
}

// Upstream's tool checks what is idle by running, which fails where the records name several devices.
bool on_one_device(const std::vector<PieceRecord>& records) {
  std::set<std::string> devices;
  for (const PieceRecord& record : records) devices.insert(record.meta.device);
  return devices.size() <= 1;
}

// Of the nodes of a range; empty when all fit.
std::string first_misfit(const Variant& variant, analysis::Range range) {
  for (size_t i = range.start; i < std::min(range.end, analysis::body_size(variant.graph)); ++i) {
    const ir::NodeId id = analysis::body_node(variant.graph, i);
    if (!variant.misfits[id].empty())
      return fmt::format("{}: {}", fx::print_node(variant.graph, variant.graph.node(id)), variant.misfits[id]);
  }
  return {};
}

OfficialGraph at_float32(const analysis::Piece& piece, std::vector<PieceRecord> records) {
  OfficialGraph made;
  made.model = fx::print_unparsed(with_public_targets(piece.graph));
  made.hash = sha256_hex(made.model);
  made.records = std::move(records);
  return made;
}

// types: of the piece's values.
Result<OfficialGraph> at_dtype(const analysis::Piece& piece, std::vector<PieceRecord> records, ir::DType dtype,
                               const ir::Values& types, Variants& variants) {
  std::vector<graphdir::TensorMeta> metas;
  for (PieceRecord& record : records) {
    if (record.meta.dtype == ir::DType::Float32) record.meta.dtype = dtype;
    metas.push_back(record.meta);
  }
  ir::Graph typed = with_amp_casts(piece.graph, dtype, types);
  if (typed.size() > piece.graph.size() && on_one_device(records)) {
    PASSNET_TRY(const ir::Values cast_types, variants.infer(typed, metas));
    typed = without_idle_casts(typed, dtype, cast_types);
  }
  const std::string code =
      graphdir::hashed_text(with_public_targets(with_annotations(typed, piece.graph)), graphdir::HashRule::OwnNames);
  return OfficialGraph{fx::wrap_traced(code), sha256_hex(code), std::move(records)};
}

Error failed(Outcome outcome, std::string why) {
  return unsupported(std::move(why)).with_failure(std::string(name(outcome)));
}

}  // namespace

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::Cut: return "cut";
    case Outcome::NoModel: return "no model";
    case Outcome::RangeOutside: return "range outside";
    case Outcome::PropagationFailed: return "propagation failed";
    case Outcome::UnknownInput: return "input of unknown size";
  }
  return "unknown";
}

Result<OfficialGraph> cut(Variants& variants, const Variant& variant, analysis::Range range, ir::DType dtype) {
  const size_t size = analysis::body_size(variant.graph);
  if (range.start >= range.end || range.start >= size)
    return failed(Outcome::RangeOutside, fmt::format("the range {}:{} holds no node of the model, which has {}",
                                                     range.start, range.end, size));
  if (std::string misfit = first_misfit(variant, range); !misfit.empty())
    return failed(Outcome::PropagationFailed, std::move(misfit));
  const analysis::Piece piece = cut_piece(variant.graph, variant.names, range);
  Result<std::vector<PieceRecord>> records = piece_records(piece, variant.graph, variant.names, variant.values);
  if (!records) return failed(Outcome::UnknownInput, records.error().message);
  if (dtype == ir::DType::Float32) return at_float32(piece, std::move(*records));
  return at_dtype(piece, std::move(*records), dtype,
                  piece_types(piece, variant, analysis::body_node(variant.graph, range.start)), variants);
}

std::set<ir::NodeId> computed_inputs(const Variant& variant, analysis::Range range) {
  std::set<ir::NodeId> computed;
  for (const ir::NodeId input : cut_piece(variant.graph, variant.names, range).inputs) {
    if (input >= variant.graph.placeholder_count()) computed.insert(input);
  }
  return computed;
}

Result<void> write(const OfficialGraph& graph, const Whole& whole, const std::filesystem::path& place) {
  const std::string weights = print_records(graph.records);
  const NamedContent files[] = {{"model.py", graph.model},
                                {"weight_meta.py", weights},
                                {"input_meta.py", ""},
                                {"graph_net.json", whole.facts_text},
                                {"graph_hash.txt", graph.hash}};
  return write_directory(place, files);
}

}  // namespace passnet::dataset::official
