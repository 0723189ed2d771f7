// Origins of subgraphs: the content of subgraph_sources.json. Source: docs/dataset-format.md, "subgraph_sources.json".
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "analysis/range.h"
#include "base/json/json.h"
#include "base/result.h"

namespace passnet::dataset {

/// By whole graph (its path in the tree it was found in): the ranges of its body that are this subgraph.
using Sources = std::map<std::string, std::set<analysis::Range>>;

/// {"timm/resnet18": [[3, 6], …], …}, keys and ranges sorted.
Json to_json(const Sources& sources);

/// Returns: subgraph_sources.json of a graph directory; nullopt when there is none.
/// Errors:  BadInput: the file has another form; Io.
Result<std::optional<Sources>> load_sources(const std::filesystem::path& directory);

/// path:     of a subgraph: GRAPH/_decomposed/NAME_startS_endE or GRAPH/_decomposed/NAME_startS_endE_N.
/// Returns:  the range [S, E) of GRAPH; nullopt for paths of another form.
std::optional<Sources> sources_by_path(const std::filesystem::path& path);

}  // namespace passnet::dataset
