#include "dataset/pieces/sources.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/file/file.h"

namespace passnet::dataset {

namespace {

// The number after the last `word` in `text`.
std::optional<size_t> number_after(std::string_view text, std::string_view word) {
  const size_t at = text.rfind(word);
  if (at == std::string_view::npos) return std::nullopt;
  const char* begin = text.data() + at + word.size();
  const char* end = text.data() + text.size();
  size_t number = 0;
  const auto [stop, failed] = std::from_chars(begin, end, number);
  return failed == std::errc() && (stop == end || *stop == '_') ? std::optional(number) : std::nullopt;
}

bool is_range(const Json& value) {
  return value.is_array() && value.size() == 2 && value[0].is_number_unsigned() && value[1].is_number_unsigned();
}

}  // namespace

Json to_json(const Sources& sources) {
  Json json = Json::object();
  for (const auto& [graph, ranges] : sources) {
    Json& list = json[graph] = Json::array();
    for (const analysis::Range& range : ranges) list.push_back({range.start, range.end});
  }
  return json;
}

Result<std::optional<Sources>> load_sources(const fs::path& directory) {
  const fs::path file = directory / "subgraph_sources.json";
  if (!entry_exists(file)) return std::optional<Sources>();
  PASSNET_TRY(const std::string text, read_beneath(directory, file.filename(), FileKind::Graph));
  PASSNET_TRY(const Json json, parse_json(text, file.string()));
  const auto refused = [&](const std::string& found) -> Error {
    return bad_input(fmt::format("found {}, expected {{\"GRAPH\": [[START, END], …], …}}", found),
                     SourceLoc{file.string(), 0, 0});
  };
  if (!json.is_object()) return refused(json.type_name());
  Sources sources;
  for (const auto& [graph, ranges] : json.items()) {
    if (!ranges.is_array()) return refused(dump(ranges));
    for (const Json& range : ranges) {
      if (!is_range(range)) return refused(dump(range));
      sources[graph].insert({range[0].get<size_t>(), range[1].get<size_t>()});
    }
  }
  return std::optional(std::move(sources));
}

std::optional<Sources> sources_by_path(const fs::path& path) {
  if (path.parent_path().filename() != "_decomposed") return std::nullopt;
  const std::string name = path.filename().string();
  const auto start = number_after(name, "_start"), end = number_after(name, "_end");
  if (!start || !end) return std::nullopt;
  return Sources{{path.parent_path().parent_path().string(), {analysis::Range{*start, *end}}}};
}

}  // namespace passnet::dataset
