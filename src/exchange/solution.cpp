#include "exchange/solution.h"

#include <fmt/format.h>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/json/json_object.h"
#include "base/text/strings.h"

namespace passnet {
PASSNET_JSON_FIELDS(exchange::SourceText, "source", PASSNET_FIELDS(path, content))
PASSNET_JSON_FIELDS(exchange::BuildSpec, "spec",
                    PASSNET_FIELDS(language, entry_point) PASSNET_FIELDS_IF_SET(destination_passing_style))
PASSNET_JSON_FIELDS(exchange::Solution, "solution", PASSNET_FIELDS(name, definition, author, spec, sources))
}  // namespace passnet

namespace passnet::exchange {

Result<Solution> load_solution(const fs::path& path) {
  PASSNET_TRY(const std::string text, read_file(path, FileKind::Graph));
  PASSNET_TRY(const Json json, parse_json(text, path.string()));
  Result<Solution> solution = from_json_object<Solution>(json);
  if (solution)
    solution->path = path;
  else
    solution.error().at = SourceLoc{path.string()};
  return solution;
}

Result<fs::path> find_definition(const Solution& solution) {
  const fs::path file = solution.definition + ".json";
  // A name that leads elsewhere is no name of a file.
  if (file.filename() == file) {
    fs::path directory = absolute_path(solution.path).parent_path();
    if (file_exists(directory / file)) return directory / file;
    for (; directory != directory.root_path(); directory = directory.parent_path()) {
      const fs::path definitions = directory / "definitions";
      if (!directory_exists(definitions)) continue;
      if (file_exists(definitions / file)) return definitions / file;
      PASSNET_TRY(const std::vector<fs::path> kinds, list_directory(definitions));
      for (const fs::path& kind : kinds)
        if (file_exists(kind / file)) return kind / file;
    }
  }
  return bad_input(fmt::format("definition {} was not found", quoted(solution.definition)),
                   SourceLoc{solution.path.string()})
      .with_hint("put its NAME.json beside the solution, or keep 'definitions' and 'solutions' in one directory");
}

fs::path workloads_of(const fs::path& definition) {
  const fs::path beside = fs::path(definition).replace_extension(".jsonl");
  if (file_exists(beside)) return beside;
  fs::path below = beside.filename();
  for (fs::path directory = definition.parent_path(); directory.has_relative_path();
       directory = directory.parent_path()) {
    if (directory.filename() == "definitions") return directory.parent_path() / "workloads" / below;
    below = directory.filename() / below;
  }
  return beside;
}

}  // namespace passnet::exchange
