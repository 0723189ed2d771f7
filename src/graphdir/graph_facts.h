// The JSON files beside a graph: graph_net.json and subgraph_sources.json.
#pragma once

#include <filesystem>
#include <string>

#include "base/json.h"

namespace passnet::graphdir {

/// graph_net.json of a graph directory; an empty object when it is absent or no object.
Json read_facts(const std::filesystem::path& directory);

/// subgraph_sources.json; null when it is absent or no JSON.
Json read_sources(const std::filesystem::path& directory);

/// The kind of the graph at `graph`, found below `root`: what its facts name, else what the name of a
/// directory below `root` or of `root` begins with, as upstream lays its trees out ("fusible_subgraphs");
/// else "subgraph" below a directory _decomposed, and "full" elsewhere.
std::string kind_of(const Json& facts, const std::filesystem::path& root, const std::filesystem::path& graph);

/// A text of the facts; "" when it is absent or no text.
std::string text_of(const Json& facts, const char* key);

/// As these files are written: indented by four, with a newline at the end. Invalid UTF-8 is replaced.
std::string print_indented(const Json& json);

}  // namespace passnet::graphdir
