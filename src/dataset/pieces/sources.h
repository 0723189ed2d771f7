// Where subgraphs come from: what subgraph_sources.json says. Source: dataset specification, section A.8.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "analysis/range.h"
#include "base/json.h"
#include "base/result.h"

namespace passnet::dataset {

/// By whole graph (its path in the tree it was found in): the ranges of its body that are this subgraph.
using Sources = std::map<std::string, std::set<analysis::Range>>;

/// {"timm/resnet18": [[3, 6], …], …}, keys and ranges sorted.
Json to_json(const Sources& sources);

/// subgraph_sources.json of a graph directory; nullopt when there is none. Errors: BadInput (another form),
/// Io.
Result<std::optional<Sources>> load_sources(const std::filesystem::path& directory);

/// What the path of a subgraph says, GRAPH/_decomposed/NAME_startS_endE or _N after it; nullopt for other
/// paths.
std::optional<Sources> sources_by_path(const std::filesystem::path& path);

}  // namespace passnet::dataset
