// weight_meta.py of the official benchmark: the records of a piece's arguments, and their text.
// Source: docs/dataset-format.md, "Official graphs".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cut.h"
#include "base/result.h"
#include "graphdir/inputs/meta.h"
#include "ir/dtype.h"
#include "ir/graph.h"
#include "ir/value.h"

namespace passnet::dataset::official {

/// Where the figures of a record (mean, std, data, bounds) come from. Names, shapes and types do not depend on it.
enum class Origin : uint8_t {
  Recorded,  // the whole model has them
  Derived,   // computed from what the model records element by element
  Measured,  // on a run with replayed inputs, in place of upstream's own
  Assumed,   // no figures: floats count as mean 0 and std 1
};
/// "recorded", "derived", "measured", "assumed".
std::string_view name(Origin origin);

struct PieceRecord {
  graphdir::TensorMeta meta;
  Origin origin = Origin::Assumed;
};

/// What is known of a whole model at the shapes of a variant.
struct VariantValues {
  std::vector<graphdir::TensorMeta> records;  // of the arguments, in their order
  bool assumed_records = false;
  ir::Values types;                                     // by node id
  std::vector<std::optional<ir::Statistics>> measured;  // by node id; may be empty
  std::vector<bool> derived;  // by node id: `measured` does not depend on what is drawn; may be empty
};

/// names:    by node id of `whole`: traced_names of it.
/// Returns:  a record per argument of the piece, of float32.
/// Errors:   Unsupported: an argument whose size is not known, or that is no tensor ("the size of 'x' is not known: …").
Result<std::vector<PieceRecord>> piece_records(const analysis::Piece& piece, const ir::Graph& whole,
                                               std::span<const std::string> names, const VariantValues& values);

/// Returns: upstream's text: indented by tabs, figures with 3 decimals, data with 6.
std::string print_records(std::span<const PieceRecord> records);

}  // namespace passnet::dataset::official
