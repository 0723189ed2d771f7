// One graph of the official benchmark as files. Source: docs/dataset.md, "The official benchmark".
#pragma once

#include <string>
#include <vector>

#include "analysis/cut.h"
#include "base/result.h"
#include "dataset/official/piece_records.h"
#include "dataset/official/variant.h"
#include "ir/dtype.h"

namespace passnet::dataset::official {

struct WrittenGraph {
  std::string model, hash;           // model.py, graph_hash.txt
  std::vector<PieceRecord> records;  // weight_meta.py
};

/// piece:    of `variant` (cut_piece); first: the node of the model that its body begins with.
/// records:  of its arguments at float32 (piece_records).
/// variants: infers types at float16 and bfloat16.
/// Errors:   those of the worker.
Result<WrittenGraph> written_graph(const analysis::Piece& piece, ir::NodeId first, const Variant& variant,
                                   std::vector<PieceRecord> records, ir::DType dtype, Variants& variants);

}  // namespace passnet::dataset::official
