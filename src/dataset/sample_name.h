// What a sample of the dataset is called: by its operators, for people, and the beginning of its hash.
#pragma once

#include <string>
#include <string_view>

#include "ir/graph.h"

namespace passnet::dataset {

/// Returns: the canonical names of up to five operators of the body, in order, joined by "_"; equal neighbours once,
///          and without operators that launch no kernel, such as views, unless there are only such. At most 48 letters,
///          digits and "_"; "graph" when there is no operator.
std::string operator_words(const ir::Graph& graph);

/// words:    as operator_words gives them. digits: how many digits of the hash are used.
/// Returns:  "add_layer_norm_1a2b3c4d".
std::string sample_name(std::string_view words, std::string_view hash, size_t digits = 8);

}  // namespace passnet::dataset
