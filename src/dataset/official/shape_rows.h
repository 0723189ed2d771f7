// The sizes of the official benchmark's variants, as upstream's tables had them when it was made.
// Source: docs/dataset-format.md, "Official graphs".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace passnet::dataset::official {

/// reifier:   "symbolic_dimension_reifier" of graph_net.json: names the table.
/// signature: as graphdir::signature gives it.
/// Returns:   nine rows of values, one value per symbol; row i is variant i. Empty when the table has no such signature,
///            or there is no such table: then there is the variant as captured alone.
std::vector<std::vector<int64_t>> shape_rows(std::string_view reifier, std::string_view signature);

}  // namespace passnet::dataset::official
