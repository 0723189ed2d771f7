// The graph that leaves PassNet, with its passes.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace passnet::ship {

/// A graph, its passes, and where it was judged.
struct Source {
  std::filesystem::path graph;    // its directory
  std::string name;               // of the graph
  std::filesystem::path passes;   // empty: none
  std::filesystem::path records;  // empty: none
};

/// path:    a graph, a sample, or a run that judged one.
/// graph:   which one of the sample or run; empty: the only one.
/// passes:  in place of those of the sample or run; empty: those.
/// Errors: BadInput: there is no such graph, or one has to be chosen.
Result<Source> find_source(const std::filesystem::path& path, const std::string& graph,
                           const std::filesystem::path& passes);

}  // namespace passnet::ship
