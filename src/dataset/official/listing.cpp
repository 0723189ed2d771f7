#include "dataset/official/listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/text/strings.h"
#include "dataset/pieces/sources.h"
#include "graphdir/path_list.h"

namespace passnet::dataset::official {

namespace {

constexpr std::string_view kTree = "fusible_subgraphs";
constexpr std::string_view kListName = "graph_list.txt";

// The parts of a path below its last directory "fusible_subgraphs"; all of them where there is none.
fs::path below_tree(const fs::path& path) {
  fs::path below = path;
  for (auto part = path.begin(); part != path.end(); ++part) {
    if (part->string() != kTree) continue;
    below.clear();
    for (auto rest = std::next(part); rest != path.end(); ++rest) below /= *rest;
  }
  return below;
}

bool is_below_tree(const fs::path& path) { return std::ranges::find(path, fs::path(kTree)) != path.end(); }

Result<Task> load_task(const fs::path& list, const fs::path& root) {
  Task task;
  task.list = list;
  const fs::path full = absolute_path(list.parent_path());
  const fs::path relative = full.lexically_relative(absolute_path(root));
  task.id = (is_below_tree(full) ? below_tree(full) : relative == "." ? full.filename() : relative).string();
  if (list.filename() != kListName) task.id = list.stem().string();
  PASSNET_TRY(const std::string text, read_file(list, FileKind::Graph));
  PASSNET_TRY(const std::vector<graphdir::PathLine> lines,
              graphdir::parse_path_list(list.string(), text, "graph directory"));
  for (const graphdir::PathLine& line : lines) {
    Result<ListedGraph> graph = parse_listed(line.text);
    if (!graph) {
      graph.error().at = SourceLoc{list.string(), line.line, 1};
      return std::move(graph).error();
    }
    task.graphs.push_back(std::move(*graph));
  }
  return task;
}

Result<std::vector<fs::path>> find_lists(const fs::path& root) {
  std::error_code status;
  if (file_exists(root)) return std::vector{root};
  if (!directory_exists(root))
    return bad_input(fmt::format("{} does not exist, expected a directory with graph_list.txt files, or such a file",
                                 quoted(root.string(), 400)));
  std::vector<fs::path> lists;
  for (fs::recursive_directory_iterator entry(root, status), end; !status && entry != end; entry.increment(status)) {
    if (entry->path().filename() == kListName) lists.push_back(entry->path());
  }
  if (status) return io_error("read", root.string(), status.value());
  if (lists.empty())
    return bad_input(fmt::format("found no graph_list.txt at or below {}", quoted(root.string(), 400)));
  return lists;
}

}  // namespace

Result<ListedGraph> parse_listed(std::string_view line) {
  const auto wrong = [&](std::string_view part, std::string_view expected) {
    return bad_input(fmt::format("{} in {}: expected {}", part, quoted(line, 400), expected))
        .with_hint("graphs/…/fusible_subgraphs/DTYPE/VARIANT/samples/SOURCE/MODEL/_decomposed/NAME_startS_endE_N");
  };
  const fs::path path(line);
  if (path.is_absolute() || std::ranges::find(path, fs::path("..")) != path.end())
    return wrong("path", "one below the benchmark");
  if (!is_below_tree(path)) return wrong("tree", "a directory 'fusible_subgraphs'");
  const auto sources = sources_by_path(below_tree(path));
  if (!sources) return wrong("range", "GRAPH/_decomposed/NAME_startS_endE_N at its end");
  ListedGraph graph;
  graph.path = line;
  const fs::path whole(sources->begin()->first);
  auto part = whole.begin();
  const std::optional<ir::DType> dtype = part == whole.end() ? std::nullopt : ir::parse_dtype(part->string());
  if (dtype != ir::DType::Float32 && dtype != ir::DType::Float16 && dtype != ir::DType::BFloat16)
    return wrong("element type", "float32, float16 or bfloat16");
  graph.dtype = *dtype;
  if (++part == whole.end() || part->string().size() != 1 || part->string()[0] < '0' || part->string()[0] > '9')
    return wrong("variant", "a digit: 0 to 8, or 9 for the shapes as captured");
  graph.variant = part->string()[0] - '0';
  fs::path model;
  for (++part; part != whole.end(); ++part) model /= *part;
  if (model.empty()) return wrong("model", "its directory");
  graph.model = model.string();
  graph.range = *sources->begin()->second.begin();
  if (graph.range.start >= graph.range.end) return wrong("range", "a start before its end");
  return graph;
}

Result<std::vector<Task>> load_tasks(const std::vector<std::string>& lists) {
  std::vector<Task> tasks;
  for (const std::string& given : lists) {
    const fs::path root(given);
    PASSNET_TRY(const std::vector<fs::path> found, find_lists(root));
    for (const fs::path& list : found) {
      PASSNET_TRY(Task task, load_task(list, root == list ? root.parent_path() : root));
      tasks.push_back(std::move(task));
    }
  }
  std::ranges::sort(tasks, {}, &Task::id);
  const auto twice = std::ranges::adjacent_find(tasks, {}, &Task::id);
  if (twice != tasks.end())
    return bad_input(fmt::format("task {} has two lists: in {} and in {}", quoted(twice->id, 200),
                                 quoted(twice->list.string(), 400), quoted(std::next(twice)->list.string(), 400)));
  return tasks;
}

}  // namespace passnet::dataset::official
