#include "dataset/captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file/paths.h"
#include "graphdir/graph_facts.h"
#include "graphdir/graph_tree.h"
#include "graphdir/sample.h"

namespace passnet::dataset {

Result<std::vector<RootedGraph>> find_graphs(const std::vector<std::string>& roots) {
  std::vector<RootedGraph> graphs;
  for (const std::string& root : roots) {
    if (!path_exists(root))
      return bad_input(fmt::format("'{}' does not exist", root))
          .with_hint("give directories with graphs: passnet dataset capture makes some");
    const std::vector<fs::path> paths = graphdir::find_graph_dirs(root);
    if (paths.empty()) return bad_input(fmt::format("no graph (model.py) at or below '{}'", root));
    for (const fs::path& path : paths) graphs.push_back({path, graphdir::path_below(root, path), root});
  }
  return graphs;
}

std::string with_shape(const std::string& path, const std::string& shape, const std::string& other) {
  fs::path made;
  bool found = false;
  for (const fs::path& part : fs::path(path)) {
    const bool is_shape = !shape.empty() && !found && part == shape;
    found |= is_shape;
    made /= is_shape ? fs::path(other) : part;
  }
  return (found ? made : made / other).string();
}

Result<std::vector<Model>> find_models(const std::vector<std::string>& roots) {
  PASSNET_TRY(const std::vector<RootedGraph> graphs, find_graphs(roots));
  std::vector<Model> models;
  std::map<std::string, size_t> by_key;
  std::map<std::string, std::string> root_of;  // by name: variants of two graphs would have one path
  for (const RootedGraph& graph : graphs) {
    const auto other = root_of.try_emplace(graph.name, graph.root).first;
    if (other->second != graph.root)
      return bad_input(fmt::format("'{}' is in '{}' and in '{}'", graph.name, other->second, graph.root))
          .with_hint("give a directory above both, so that their paths differ");
    const std::string shape = graphdir::text_of(graphdir::read_facts(graph.path), "shape");
    const std::string key =
        fmt::format("{}\n{}", graph.root, shape.empty() ? graph.name : with_shape(graph.name, shape, "*"));
    const auto [place, is_new] = by_key.try_emplace(key, models.size());
    if (is_new) models.emplace_back();
    models[place->second].paths.push_back(graph.path);
    models[place->second].names.push_back(graph.name);
  }
  return models;
}

std::string shape_name(const std::string& shape, std::span<const DataSymbol> symbols, std::span<const int64_t> values) {
  std::string made;
  std::vector<bool> named(symbols.size());
  for (size_t i = 0; i < shape.size();) {
    size_t end = i;
    while (end < shape.size() && std::isdigit(static_cast<unsigned char>(shape[end])) != 0) ++end;
    if (end == i) {
      made += shape[i++];
      continue;
    }
    std::string number = shape.substr(i, end - i);
    for (size_t k = 0; k < symbols.size(); ++k) {
      if (number != std::to_string(symbols[k].example)) continue;
      number = std::to_string(values[k]);
      named[k] = true;
      break;
    }
    made += number;
    i = end;
  }
  if (std::ranges::all_of(named, [](bool is) { return is; })) return made;
  made.clear();
  for (size_t k = 0; k < values.size(); ++k) made += fmt::format("{}s{}_{}", k > 0 ? "_" : "", k, values[k]);
  return made;
}

}  // namespace passnet::dataset
