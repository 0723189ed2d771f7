// Which sizes the variants of a graph have, by the signature of its symbols. Source: dataset specification,
// D.2.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataset/sizes/data_symbols.h"

namespace passnet::dataset {

/// Rows of values, one per symbol, in the order in which variants are made. signature: as graphdir::signature gives
/// it. For signatures that the table does not name, a height or width takes 224 for 16, 256 for 256 and 384
/// for 4096. No row for more than four symbols, or none.
std::vector<std::vector<int64_t>> variant_sizes(const std::string& signature, std::span<const DataSymbol> symbols);

}  // namespace passnet::dataset
