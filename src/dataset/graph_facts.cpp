#include "dataset/graph_facts.h"

#include <nlohmann/json.hpp>

#include "base/file.h"

namespace passnet::dataset {

namespace {

Json read_json(const std::filesystem::path& file) {
  const Result<std::string> text = read_file(file);
  Json json = text ? Json::parse(*text, nullptr, false) : Json();
  return json.is_discarded() ? Json() : json;
}

}  // namespace

Json read_facts(const std::filesystem::path& directory) {
  Json facts = read_json(directory / "graph_net.json");
  return facts.is_object() ? facts : Json::object();
}

Json read_sources(const std::filesystem::path& directory) {
  return read_json(directory / "subgraph_sources.json");
}

std::string print_indented(const Json& json) {
  return json.dump(4, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace passnet::dataset
