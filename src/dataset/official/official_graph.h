// One graph of the official benchmark: a range of a variant at an element type, as its files.
// Source: docs/dataset-format.md, "Official graphs".
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "analysis/range.h"
#include "base/result.h"
#include "dataset/official/piece_records.h"
#include "dataset/official/variant.h"
#include "dataset/official/whole.h"
#include "ir/dtype.h"

namespace passnet::dataset::official {

struct OfficialGraph {
  std::string model, hash;           // model.py, graph_hash.txt
  std::vector<PieceRecord> records;  // weight_meta.py
};

/// What became of a graph that should be cut.
enum class Outcome : uint8_t {
  Cut,
  NoModel,            // none in the checkout, or it cannot be read
  RangeOutside,       // it begins behind the end of the model
  PropagationFailed,  // the model has no such variant, or statements of the range do not fit these shapes
  UnknownInput,       // an argument has no size that is known, or is no tensor
};
/// "cut", "no model", "range outside", "propagation failed", "input of unknown size": also the failure of errors.
std::string_view name(Outcome outcome);

/// variants: that `variant` is one of.
/// Errors:   Unsupported, with a failure: RangeOutside, PropagationFailed, UnknownInput; those of the worker.
Result<OfficialGraph> cut(Variants& variants, const Variant& variant, analysis::Range range, ir::DType dtype);

/// Returns: the values that the model computes and that the range starts from. The range begins within the model.
std::set<ir::NodeId> computed_inputs(const Variant& variant, analysis::Range range);

/// Writes the files of a graph to the new directory `place`. Errors: Io.
Result<void> write(const OfficialGraph& graph, const Whole& whole, const std::filesystem::path& place);

}  // namespace passnet::dataset::official
