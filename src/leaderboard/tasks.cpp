#include "leaderboard/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/text/strings.h"
#include "fx/syntax/lexer.h"
#include "graphdir/graph_walk.h"
#include "graphdir/path_list.h"

namespace passnet::leaderboard {

namespace {

constexpr const char* kGraphList = "graph_list.txt";

/// A sample: it has a list of graphs or, where nobody wrote one, a directory of them.
bool is_sample(const fs::path& directory) {
  return entry_exists(directory / kGraphList) || directory_exists(directory / "graphs");
}

/// Sample directories below `root`; what lies in one is its own.
Result<std::vector<fs::path>> find_samples(const fs::path& root) {
  std::vector<fs::path> found;
  std::error_code failed;
  auto entry = fs::recursive_directory_iterator(root, failed);
  for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    if (!entry->is_directory(failed) || !is_sample(entry->path())) continue;
    found.push_back(entry->path());
    entry.disable_recursion_pending();
  }
  if (failed) return io_error("read", root.string(), failed.value());
  return found;
}

Result<std::vector<fs::path>> find_lists(const fs::path& root) {
  PASSNET_TRY(std::vector<fs::path> found, list_directory(root));
  std::erase_if(found, [](const fs::path& path) { return path.extension() != ".txt" || !file_exists(path); });
  return found;
}

/// The graph that a line means: below `graphs`, which may itself be the "graphs" that lines begin with.
fs::path graph_below(const fs::path& graphs, const std::string& line) {
  constexpr std::string_view kPrefix = "graphs/";
  if (line.starts_with(kPrefix) && !graphdir::is_graph_dir(graphs / line)) return graphs / line.substr(kPrefix.size());
  return graphs / line;
}

/// Errors: Io; BadInput: an empty list, a graph that is not there or is listed twice.
Result<graphdir::Sample> load_list(const fs::path& list, const fs::path& graphs) {
  PASSNET_TRY(const std::string text, read_file(list, FileKind::Graph));
  PASSNET_TRY(const std::vector<graphdir::PathLine> lines,
              graphdir::parse_path_list(list.string(), text, "graph directory"));
  graphdir::Sample sample;
  sample.path = list;
  sample.roots = {graphs};
  sample.name = list.stem().string();
  std::vector<graphdir::PathLine> missing;
  std::set<std::string> seen;
  for (const graphdir::PathLine& line : lines) {
    if (!seen.insert(line.text).second)
      return bad_input(fmt::format("graph {} is listed twice", quoted(line.text, 200)),
                       SourceLoc{list.string(), line.line, 1});
    sample.graph_names.push_back(line.text);
    sample.graph_paths.push_back(graph_below(graphs, line.text));
    PASSNET_TRY_VOID(
        graphdir::require_below(graphs, sample.graph_paths.back(), line.text, SourceLoc{list.string(), line.line, 1}));
    if (!graphdir::is_graph_dir(sample.graph_paths.back())) missing.push_back(line);
  }
  if (missing.empty()) return sample;
  return bad_input(fmt::format("{} of {} graphs are not below '{}'; the first is {}", missing.size(), lines.size(),
                               graphs.string(), quoted(missing[0].text, 200)),
                   SourceLoc{list.string(), missing[0].line, 1});
}

/// Errors: BadInput (two tasks of one name).
Result<void> add(const fs::path& place, const std::string& name, Result<graphdir::Sample> loaded, TaskSet& all,
                 std::set<std::string>& names) {
  if (!names.insert(name).second)
    return bad_input(fmt::format("two samples are named {}; the second is '{}'", quoted(name, 100), place.string()));
  if (loaded)
    all.tasks.push_back(std::move(*loaded));
  else
    all.unusable.push_back({name, to_string(loaded.error())});
  return {};
}

}  // namespace

Result<TaskSet> load_tasks(const fs::path& directory, const fs::path& graphs) {
  if (!directory_exists(directory)) {
    return bad_input(fmt::format("'{}' is no directory, expected one of samples", directory.string()))
        .with_hint("give what 'passnet dataset official' wrote, a directory of samples, or one of SAMPLE.txt lists");
  }
  const fs::path root = directory_exists(directory / "tasks") ? directory / "tasks" : directory;
  PASSNET_TRY(const std::vector<fs::path> samples, find_samples(root));
  PASSNET_TRY(const std::vector<fs::path> lists, find_lists(root));
  const bool by_list = samples.empty() && !lists.empty();
  if (by_list && graphs.empty())
    return bad_input(fmt::format("'{}' holds lists of graphs, but not the graphs", root.string()))
        .with_hint("--graphs DIR says what their lines are below");
  if (!by_list && !graphs.empty())
    return bad_input(fmt::format("--graphs '{}' is for a directory of SAMPLE.txt lists, and '{}' holds {}",
                                 graphs.string(), root.string(), samples.empty() ? "none" : "sample directories"))
        .with_hint("leave --graphs away");
  TaskSet all;
  std::set<std::string> names;
  if (by_list) {
    for (const fs::path& list : lists)
      PASSNET_TRY_VOID(add(list, list.stem().string(), load_list(list, graphs), all, names));
  } else {
    for (const fs::path& sample : samples)
      PASSNET_TRY_VOID(add(sample, sample.filename().string(), graphdir::load_sample(sample), all, names));
  }
  if (names.empty())
    return bad_input(
        fmt::format("no sample in '{}': found no directory with {} or graphs/ below it, and no SAMPLE.txt in it",
                    root.string(), kGraphList));
  std::ranges::sort(all.tasks, {}, &graphdir::Sample::name);
  std::ranges::sort(all.unusable, {}, &TaskSet::Unusable::task);
  return all;
}

Result<TaskSet> select_tasks(TaskSet all, const std::string& part, int limit) {
  const auto unwanted = [&](const std::string& name) { return name.find(part) == std::string::npos; };
  std::erase_if(all.tasks, [&](const graphdir::Sample& task) { return unwanted(task.name); });
  std::erase_if(all.unusable, [&](const TaskSet::Unusable& task) { return unwanted(task.task); });
  if (limit > 0 && all.tasks.size() > static_cast<size_t>(limit)) all.tasks.resize(static_cast<size_t>(limit));
  if (!all.tasks.empty()) return all;
  if (!all.unusable.empty())
    return bad_input(fmt::format("none of {} samples can be evaluated; {}: {}", all.unusable.size(),
                                 all.unusable[0].task, all.unusable[0].why));
  return bad_input(fmt::format("no sample's name holds {}", quoted(part, 100)))
      .with_hint("--filter takes a part of it");
}

}  // namespace passnet::leaderboard
