#include "dataset/harbor/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "agent/prompt/prompt.h"
#include "agent/tools/workspace.h"
#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/file/source_files.h"
#include "base/json/json.h"
#include "base/text/strings.h"
#include "base/version.h"
#include "dataset/catalog/family.h"
#include "dataset/harbor/templates.h"

namespace passnet::dataset {

namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

/// A task as the index tells of it.
struct Task {
  std::string name;
  size_t graphs = 0;
  std::vector<std::string> operators;  // of the first graph
  bool solved = false;
};

/// Harbor's ORG_NAME_PATTERN, after the "/".
bool is_harbor_name(std::string_view name) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && is_word(name[0]) && name.find("..") == std::string_view::npos &&
         std::ranges::all_of(name, [&](char c) { return is_word(c) || c == '.' || c == '_' || c == '-'; });
}

/// Returns the workspace of `passnet mcp /task/NAME -o /work`, in the container.
std::string workspace_of(const std::string& name) { return fmt::format("/work/{}/workspace", name); }

const char* device_of(const HarborOptions& options) { return options.on_gpu ? "an NVIDIA GPU" : "a CPU"; }

/// The sample without passes.
Result<void> write_sample(const graphdir::Sample& sample, const fs::path& directory) {
  PASSNET_TRY_VOID(agent::make_workspace(sample, directory));
  return remove_directory(directory / agent::kPassDir);  // COPY needs none, and git keeps none that is empty
}

/// Copies the files of a pass_dir. Returns whether there is a pass.
Result<bool> write_solution(const fs::path& passes, const std::string& name, const fs::path& solution) {
  if (passes.empty() || !directory_exists(passes)) return false;
  const SourceFiles files({passes});
  PASSNET_TRY(const std::vector<fs::path> entries, list_directory(passes));
  if (std::ranges::none_of(entries, [](const fs::path& entry) { return entry.extension() == ".py"; })) return false;
  for (const fs::path& entry : entries) {
    PASSNET_TRY(const SourceFiles::Text text, files.read(entry, FileKind::Kernel));
    PASSNET_TRY_VOID(write_file(solution / agent::kPassDir / entry.filename(), *text));
  }
  PASSNET_TRY_VOID(
      write_file(solution / "solve.sh", agent::fill_in(templates::kSolve, {{"directory", workspace_of(name)}})));
  return true;
}

Result<Task> write_task(const graphdir::Sample& sample, const fs::path& directory, const HarborOptions& options) {
  if (!is_harbor_name(sample.name))
    return bad_input(fmt::format("sample {}: expected a name of letters, digits, '.', '_' and '-' that begins with a "
                                 "letter or digit, as Harbor's tasks have",
                                 quoted(sample.name)))
        .with_hint("rename the directory of the sample");
  PASSNET_TRY(const graphdir::GraphDir first, graphdir::load_graph_dir(sample.graph_paths.front()));
  Task task{sample.name, sample.graph_names.size(), op_sequence(first.graph)};
  const fs::path given = options.passes.empty() ? fs::path() : options.passes / sample.name / agent::kPassDir;
  PASSNET_TRY(task.solved,
              write_solution(directory_exists(given) ? given : sample.pass_dir, sample.name, directory / "solution"));
  const Values values{{"name", task.name},
                      {"version", kVersion},
                      {"graph_count", std::to_string(task.graphs)},
                      {"operators", dump(Json(task.operators))},
                      {"solution", !task.solved              ? "none"
                                   : directory_exists(given) ? "given"
                                                             : "shipped"},
                      {"directory", workspace_of(task.name)},
                      {"image", options.image},
                      {"device", device_of(options)},
                      {"device_option", options.on_gpu ? "cuda" : "cpu"},
                      {"gpus", options.on_gpu ? "gpus = 1\n" : ""}};
  PASSNET_TRY(const std::string instruction,
              agent::make_workspace_prompt(sample, options.on_gpu, workspace_of(task.name)));
  PASSNET_TRY_VOID(write_file(directory / "instruction.md", instruction));
  for (const auto& [file, text] : {std::pair{"task.toml", templates::kTask},
                                   {"environment/Dockerfile", templates::kEnvironment},
                                   {"tests/Dockerfile", templates::kTests},
                                   {"tests/test.sh", templates::kTest}})
    PASSNET_TRY_VOID(write_file(directory / file, agent::fill_in(text, values)));
  for (const char* part : {"environment", "tests"}) PASSNET_TRY_VOID(write_sample(sample, directory / part / "sample"));
  return task;
}

Result<void> write_index(const std::vector<Task>& tasks, const fs::path& out, const HarborOptions& options) {
  Json entries = Json::array();
  std::string lines;
  for (const Task& task : tasks) {
    const std::string name = "passnet/" + task.name, path = "tasks/" + task.name;
    entries.push_back({{"name", name}, {"path", path}});
    lines += dump(Json{{"task", name}, {"path", path}, {"graphs", task.graphs}, {"operators", task.operators}}) + "\n";
  }
  const std::string about = fmt::format("compiler passes that make tensor graphs faster on {}", device_of(options));
  const Json registry = Json::array(
      {{{"name", "passnet"}, {"version", kVersion}, {"description", about}, {"tasks", std::move(entries)}}});
  const Values values{{"task_count", std::to_string(tasks.size())},
                      {"solved_count", std::to_string(std::ranges::count_if(tasks, &Task::solved))},
                      {"version", kVersion},
                      {"device", device_of(options)},
                      {"image", options.image}};
  PASSNET_TRY_VOID(write_file(out / "registry.json", dump(registry, 2) + "\n"));
  PASSNET_TRY_VOID(write_file(out / "data" / "tasks.jsonl", lines));
  PASSNET_TRY_VOID(write_file(out / "eval.yaml", std::string_view(templates::kEval)));
  return write_file(out / "README.md", agent::fill_in(templates::kCard, values));
}

}  // namespace

Result<HarborReport> export_harbor(const std::vector<graphdir::Sample>& samples, const fs::path& out,
                                   const HarborOptions& options,
                                   const std::function<void(const std::string& name)>& counted) {
  PASSNET_TRY_VOID(require_empty(out));
  std::vector<Task> tasks;
  size_t next = 0;
  PASSNET_TRY_VOID(graphdir::map_until_error(
      [&]() -> std::optional<size_t> { return next < samples.size() ? std::optional(next++) : std::nullopt; },
      [&](size_t i) { return write_task(samples[i], out / "tasks" / samples[i].name, options); },
      [&](Result<Task> task) -> Result<void> {
        if (!task) return std::move(task).error();
        counted(task->name);
        tasks.push_back(std::move(*task));
        return {};
      },
      options.tree));
  std::ranges::sort(tasks, {}, &Task::name);
  PASSNET_TRY_VOID(write_index(tasks, out, options));
  return HarborReport{tasks.size(), static_cast<size_t>(std::ranges::count_if(tasks, &Task::solved))};
}

}  // namespace passnet::dataset
