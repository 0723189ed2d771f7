// Graphs as the author takes them: with the types of all values.
#pragma once

#include <string>
#include <vector>

#include "author/write.h"
#include "type_inference.h"

namespace passnet::cli {

/// paths: of graph directories. names: what messages call them. Errors: as load_graph_dir and types_of.
Result<std::vector<author::Example>> load_examples(const std::vector<std::filesystem::path>& paths,
                                                   const std::vector<std::string>& names, TypeInference& inference);

}  // namespace passnet::cli
