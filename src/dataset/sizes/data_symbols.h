// Symbols: the sizes of a whole graph's data inputs that may change, and the graph's records with others in their
// place.
// Source: docs/dataset-format.md, "How symbols are found".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graphdir/inputs/constraints.h"
#include "graphdir/sample.h"

namespace passnet::dataset {

/// A size, and all places in the data inputs that have it and change together.
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

/// captures:    of one model, with the same arguments; at least one.
/// constraints: of a single capture; when they have symbols, those are returned.
/// Returns:     of a single capture, the distinct sizes of its data inputs in order, where a 1 counts on the first axis
///              only. Of several captures, the sizes that differ between them; places with equal sizes in every capture
///              are one symbol.
std::vector<DataSymbol> find_symbols(std::span<const graphdir::GraphDir* const> captures,
                                     const graphdir::Constraints& constraints);

/// values:   by symbol.
/// Returns:  the records with the symbols' places at these sizes. Literal data is repeated and cut to the new length.
std::vector<graphdir::TensorMeta> resized(const std::vector<graphdir::TensorMeta>& metas,
                                          std::span<const DataSymbol> symbols, std::span<const int64_t> values);

/// other:    the records of another capture.
/// Returns:  by symbol, the size that it has there; nullopt when no values of the symbols give its shapes.
std::optional<std::vector<int64_t>> values_in(const std::vector<graphdir::TensorMeta>& metas,
                                              std::span<const DataSymbol> symbols,
                                              const std::vector<graphdir::TensorMeta>& other);

/// Returns: constraints with symbols S0, S1, … for the resized records; values: by symbol, their examples.
graphdir::Constraints constraints_of(const std::vector<graphdir::TensorMeta>& metas,
                                     std::span<const DataSymbol> symbols, std::span<const int64_t> values);

}  // namespace passnet::dataset
