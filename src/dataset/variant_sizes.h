// Which sizes the variants of a graph have, by the signature of its symbols. Source: dataset specification,
// D.2.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace passnet::dataset {

/// Rows of values, one per symbol, in the order in which variants are made. signature: as fx::signature gives
/// it. pictures: by symbol, that it is a height or width; for signatures that the table does not name, it
/// then takes 224 for 16, 256 for 256 and 384 for 4096. No row for more than four symbols, or none.
std::vector<std::vector<int64_t>> variant_sizes(const std::string& signature, std::span<const bool> pictures);

}  // namespace passnet::dataset
