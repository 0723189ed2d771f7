#include "graphdir/graph_facts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "graphdir/kind.h"

namespace passnet::graphdir {

namespace {

Json read_json(const std::filesystem::path& directory, const char* file, FileKind kind) {
  const Result<std::string> text = read_beneath(directory, file, kind);
  Json json = text ? try_parse_json(*text) : Json();
  return json.is_discarded() ? Json() : json;
}

std::string_view kind_in(const std::filesystem::path& name) {
  for (const Kind kind : kKinds) {
    if (name.string().starts_with(graphdir::name(kind))) return graphdir::name(kind);
  }
  return "";
}

}  // namespace

Json read_facts(const std::filesystem::path& directory) {
  Json facts = read_json(directory, "graph_net.json", FileKind::Facts);
  return facts.is_object() ? facts : Json::object();
}

Json read_sources(const std::filesystem::path& directory) {
  return read_json(directory, "subgraph_sources.json", FileKind::Graph);
}

std::string text_of(const Json& facts, const char* key) {
  const auto found = facts.find(key);
  return found != facts.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string kind_of(const Json& facts, const std::filesystem::path& root, const std::filesystem::path& graph) {
  if (std::string named = text_of(facts, "kind"); !named.empty()) return named;
  const std::filesystem::path relative = graph.lexically_relative(root);
  for (const std::filesystem::path& part : relative) {
    if (const std::string_view kind = kind_in(part); !kind.empty()) return std::string(kind);
  }
  const std::filesystem::path full = absolute_path(root / "");
  if (const std::string_view kind = kind_in(full.parent_path().filename()); !kind.empty()) return std::string(kind);
  const bool is_piece =
      std::find(relative.begin(), relative.end(), "_decomposed") != relative.end() || facts.contains("start");
  return is_piece ? "subgraph" : "full";
}

std::string kind_for_record(const std::filesystem::path& root, const std::filesystem::path& graph) {
  const Json facts = read_facts(graph);
  const std::string kind = kind_of(facts, root, graph);
  const bool is_told = parse_kind(kind) || kind == "subgraph" || (kind == "full" && !facts.empty());
  return is_told ? kind : "";
}

std::string print_indented(const Json& json) { return json.dump(4, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace passnet::graphdir
