// What a sample of the dataset is called: by its operators, for people, and the beginning of its hash.
#pragma once

#include <string>
#include <string_view>

#include "ir/graph.h"

namespace passnet::dataset {

/// Up to five operators of the body in order, by their canonical names, joined by "_": without views and what else launches
/// no kernel (all of them where nothing else is there), equal neighbors once. At most 48 letters, digits and "_".
/// "graph" when there is no operator.
std::string operator_words(const ir::Graph& graph);

/// "add_layer_norm_1a2b3c4d". digits: of the hash.
std::string sample_name(std::string_view words, std::string_view hash, size_t digits = 8);

}  // namespace passnet::dataset
