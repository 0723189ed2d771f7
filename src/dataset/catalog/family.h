// Families: groups of samples that nearly repeat each other, so that a split keeps each group on one side.
// Source: docs/dataset.md, "Split".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace passnet::dataset {

/// Returns: the op names of the body, without the casts that a dtype variant adds (variant_casts), so that all variants
///          of a graph have the same.
std::vector<std::string> op_sequence(const ir::Graph& graph);

/// Returns: a hash (64 hex digits) of the canonical names, in order, of the operators that are neither views nor such
///          casts.
std::string family_of(const ir::Graph& graph);

/// family:   as family_of gives it. share: of all families, from 0 to 1.
/// Returns:  whether the family is for evaluation. It depends on the family and the seed alone, so a dataset that grows
///           moves no sample to the other side.
bool is_for_evaluation(std::string_view family, double share, uint64_t seed);

}  // namespace passnet::dataset
