// The JSON files beside a graph: graph_net.json and subgraph_sources.json.
#pragma once

#include <filesystem>
#include <string>

#include "base/json/json.h"

namespace passnet::graphdir {

/// Returns: graph_net.json of a graph directory; an empty object when it is absent or holds something else.
Json read_facts(const std::filesystem::path& directory);

/// Returns: subgraph_sources.json of a graph directory; null when it is absent or not JSON.
Json read_sources(const std::filesystem::path& directory);

/// facts:    read_facts(graph).
/// root:     the directory that the graph was found below.
/// Returns:  the kind that the facts name; else the kind that `root`, or a directory between it and the graph, has in
///           its name as upstream lays its trees out ("fusible_subgraphs"); else "subgraph" for a graph below a
///           directory `_decomposed` or with a "start" in its facts, and "full" for any other.
std::string kind_of(const Json& facts, const std::filesystem::path& root, const std::filesystem::path& graph);

/// The same for a record, whose reader cannot look at the graph: "" for a graph without facts that no directory names, and
/// for a word that is no kind.
std::string kind_for_record(const std::filesystem::path& root, const std::filesystem::path& graph);

/// Returns: the string under `key`; "" when it is absent or not a string.
std::string text_of(const Json& facts, const char* key);

/// Returns: the text of such a file: indented by four blanks, with a newline at its end. Bytes that are not UTF-8
///          become U+FFFD.
std::string print_indented(const Json& json);

}  // namespace passnet::graphdir
