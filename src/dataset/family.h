// Families: samples that are near-duplicates of each other, so that a split keeps them on one side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace passnet::dataset {

/// The op names of the body, without casts that a dtype variant adds (variant_casts): the same for all
/// variants of a graph.
std::vector<std::string> op_sequence(const ir::Graph& graph);

/// 64 hex digits of the operators that are neither views nor such casts, in order, by their canonical names.
std::string family_of(const ir::Graph& graph);

/// Whether a family is for evaluation. By the family and the seed alone, so that other samples change
/// nothing. share: of all families, 0 to 1.
bool is_for_evaluation(std::string_view family, double share, uint64_t seed);

}  // namespace passnet::dataset
