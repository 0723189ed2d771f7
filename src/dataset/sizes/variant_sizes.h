// Which sizes the variants of a graph have, by the signature of its symbols.
// Source: docs/dataset-format.md, "Which sizes variants have".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataset/sizes/data_symbols.h"

namespace passnet::dataset {

/// signature: as graphdir::signature gives it.
/// Returns:   rows of values, one value per symbol, in the order in which variants are made: those of the table when it
///            has the signature, else upstream's rows for this many symbols, where a height or width is 224 in place of
///            16 and 384 in place of 4096. Empty for more than four symbols, or none.
std::vector<std::vector<int64_t>> variant_sizes(const std::string& signature, std::span<const DataSymbol> symbols);

}  // namespace passnet::dataset
