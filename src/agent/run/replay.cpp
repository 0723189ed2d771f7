#include "agent/run/replay.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agent/tools/workspace.h"
#include "agent/trajectory/trajectory.h"
#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/file/temporary_directory.h"
#include "base/json/json_fields.h"
#include "base/text/strings.h"

namespace passnet::agent {

namespace {

std::string text_in(const Json& json, const char* name) {
  return json.is_object() && json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : "";
}

Result<Recorded> recorded_of(const Json& json, const std::map<std::string, fs::path>& samples) {
  Recorded one;
  one.name = text_in(json, "exp_name");
  const std::string sample =
      text_in(json.is_object() && json.contains("env_args") ? json["env_args"] : Json(), "sample");
  const auto known = samples.find(sample);
  if (known == samples.end())
    return bad_input(fmt::format("a trajectory of sample {}, which is not among those given", quoted(sample)));
  PASSNET_TRY(one.sample, graphdir::load_sample(known->second));
  if (json.contains("reward")) one.reward = read_number(json["reward"]).value_or(1);
  PASSNET_TRY(one.files, files_of_patch(text_in(json, "output_patch")));
  // As for a model: names that lead elsewhere are refused.
  const Workspace nowhere("/nonexistent");
  for (const auto& [name, text] : one.files) {
    if (const Result<fs::path> place = nowhere.resolve_writable(name); !place) return place.error();
  }
  return one;
}

}  // namespace

Result<std::vector<Recorded>> load_recorded(const fs::path& path, const std::vector<fs::path>& samples) {
  const bool is_run = directory_exists(path);
  const fs::path file = is_run ? path / kTrajectoriesFile : path;
  PASSNET_TRY(const std::string text,
              is_run ? read_beneath(path, kTrajectoriesFile, FileKind::Lines) : read_file(file, FileKind::Lines));
  std::map<std::string, fs::path> by_name;
  for (const fs::path& sample : samples) {
    PASSNET_TRY(const graphdir::Sample loaded, graphdir::load_sample(sample));
    by_name.emplace(loaded.name, sample);
  }
  std::vector<Recorded> all;
  uint32_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    PASSNET_TRY(const Json json, parse_json(line, file.string()));
    Result<Recorded> one = recorded_of(json, by_name);
    if (!one) return std::move(one).error().with_note(fmt::format("in '{}', line {}", file.string(), number));
    all.push_back(std::move(*one));
  }
  return all;
}

Result<Outcome> replay(const Recorded& recorded, Evaluator& evaluator) {
  if (recorded.files.empty()) {
    Outcome nothing;
    nothing.graphs = nothing.abstained = recorded.sample.graph_names.size();
    return nothing;
  }
  PASSNET_TRY(const TemporaryDirectory directory, TemporaryDirectory::make("passnet-replay-"));
  const Workspace workspace(directory.path());
  for (const auto& [name, text] : recorded.files) PASSNET_TRY_VOID(write_file(directory.path() / name, text));
  PASSNET_TRY(const Evaluated evaluated, evaluator.evaluate(task_of(recorded.sample, workspace), false));
  return outcome_of(evaluated.records);
}

}  // namespace passnet::agent
