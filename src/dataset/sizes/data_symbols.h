// The sizes of a whole graph's data inputs that may change together, and its records at others. Source:
// dataset specification, D.2.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graphdir/constraints.h"
#include "graphdir/sample.h"

namespace passnet::dataset {

/// A size that stands in some places of the data inputs.
struct DataSymbol {
  struct Place {
    size_t record = 0;  // of the weights of the graph directory
    size_t axis = 0;
    bool operator==(const Place&) const = default;
  };
  int64_t example = 0;  // as captured
  std::vector<Place> places;
  bool is_of_pictures = false;  // a height or width
};

/// Distinct sizes of the data inputs, in their order; 1 counts on the first axis only. Of several captures of
/// one model (the same arguments) only sizes that differ between them, equal where they are equal in all.
/// constraints: of a single capture; where they have symbols, those are it.
std::vector<DataSymbol> find_symbols(std::span<const graphdir::GraphDir* const> captures,
                                     const graphdir::Constraints& constraints);

/// The records with the symbols at `values` (by symbol). Literal data is repeated, then cut.
std::vector<graphdir::TensorMeta> resized(const std::vector<graphdir::TensorMeta>& metas,
                                          std::span<const DataSymbol> symbols, std::span<const int64_t> values);

/// What the symbols are in another capture; nullopt: they do not say its sizes.
std::optional<std::vector<int64_t>> values_in(const std::vector<graphdir::TensorMeta>& metas,
                                              std::span<const DataSymbol> symbols,
                                              const std::vector<graphdir::TensorMeta>& other);

/// The constraints S0, S1, … of records that were resized.
graphdir::Constraints constraints_of(const std::vector<graphdir::TensorMeta>& metas,
                                     std::span<const DataSymbol> symbols, std::span<const int64_t> values);

}  // namespace passnet::dataset
