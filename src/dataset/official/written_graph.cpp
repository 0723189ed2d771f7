#include "dataset/official/written_graph.h"

#include <algorithm>
#include <set>

#include "analysis/op_name.h"
#include "base/hash.h"
#include "dataset/official/piece.h"
#include "dataset/official/typed_piece.h"
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

}  // namespace

Result<WrittenGraph> written_graph(const analysis::Piece& piece, ir::NodeId first, const Variant& variant,
                                   std::vector<PieceRecord> records, ir::DType dtype, Variants& variants) {
  WrittenGraph written;
  if (dtype == ir::DType::Float32) {
    written.model = fx::print_unparsed(with_public_targets(piece.graph));
    written.hash = sha256_hex(written.model);
    written.records = std::move(records);
    return written;
  }
  std::vector<graphdir::TensorMeta> metas;
  for (PieceRecord& record : records) {
    if (record.meta.dtype == ir::DType::Float32) record.meta.dtype = dtype;
    metas.push_back(record.meta);
  }
  ir::Graph typed = with_amp_casts(piece.graph, dtype, piece_types(piece, variant, first));
  if (typed.size() > piece.graph.size() && on_one_device(records)) {
    PASSNET_TRY(const ir::Values types, variants.infer(typed, metas));
    typed = without_idle_casts(typed, dtype, types);
  }
  const std::string code =
      graphdir::hashed_text(with_public_targets(with_annotations(typed, piece.graph)), graphdir::HashRule::OwnNames);
  written.model = fx::wrap_traced(code);
  written.hash = sha256_hex(code);
  written.records = std::move(records);
  return written;
}

}  // namespace passnet::dataset::official
