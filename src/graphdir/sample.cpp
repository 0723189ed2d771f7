#include "graphdir/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/log.h"
#include "base/text/strings.h"
#include "fx/syntax/lexer.h"
#include "graphdir/graph_walk.h"
#include "graphdir/path_list.h"

namespace passnet::graphdir {

namespace {

auto* find_in(auto& dir, std::string_view record) {
  for (auto* list : {&dir.inputs, &dir.weights}) {
    if (const auto found = std::ranges::find(*list, record, &TensorMeta::name); found != list->end()) return &*found;
  }
  return static_cast<decltype(dir.inputs.data())>(nullptr);
}

// "samples/add_relu/" and "." give the name of the directory they mean.
std::string directory_name(const fs::path& path) {
  const fs::path full = absolute_path(path);
  return (full.has_filename() ? full.filename() : full.parent_path().filename()).string();
}

Result<std::vector<TensorMeta>> load_meta(const SourceFiles& files, const fs::path& file) {
  PASSNET_TRY(const SourceFiles::Text text, files.read(file, FileKind::Graph));
  return parse_meta(file.string(), *text);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const std::string_view nearest = nearest_name(word, candidates);
  return nearest.empty() ? "" : fmt::format("did you mean {}?", quoted(nearest, 200));
}

// A list that a command is given. Errors: Io, BadInput.
Result<std::vector<PathLine>> load_list(const fs::path& file, std::string_view of_what) {
  PASSNET_TRY(const std::string text, read_file(file, FileKind::Graph));
  if (file.extension() == ".jsonl") return parse_path_json(file.string(), text, of_what);
  if (file.extension() == ".csv") return parse_path_table(file.string(), text, of_what);
  return parse_path_list(file.string(), text, of_what);
}

Result<void> list_graphs(Sample& sample, const fs::path& list) {
  PASSNET_TRY(const std::string text, read_beneath(sample.path, list.filename(), FileKind::Graph));
  PASSNET_TRY(const std::vector<PathLine> lines, parse_path_list(list.string(), text, "graph directory"));
  std::map<fs::path, uint32_t> seen;
  for (const PathLine& line : lines) {
    const SourceLoc at{list.string(), line.line, 1};
    const fs::path below = sample.path / "graphs" / line.text;
    const fs::path beside = sample.path / line.text;
    const fs::path found = is_graph_dir(below) ? below : beside;
    if (!is_graph_dir(found)) {
      std::vector<std::string> known;
      for (const fs::path& root : {sample.path / "graphs", sample.path}) {
        std::error_code absent;
        if (fs::is_symlink(root, absent)) continue;
        for (const fs::path& graph : find_graph_dirs(root)) known.push_back(graph.lexically_relative(root).string());
      }
      return bad_input(
                 fmt::format("graph {} does not exist: found neither {} nor {}", quoted(line.text, 200),
                             quoted((below / "model.py").string(), 400), quoted((beside / "model.py").string(), 400)),
                 at)
          .with_hint(did_you_mean(line.text, known));
    }
    PASSNET_TRY_VOID(require_below(sample.path, found, line.text, at));
    const auto [first, fresh] = seen.emplace(found.lexically_normal(), line.line);
    if (!fresh)
      return bad_input(
          fmt::format("graph {} stands here again, first on line {}", quoted(line.text, 200), first->second), at);
    sample.graph_names.push_back(line.text);
    sample.graph_paths.push_back(found);
  }
  return {};
}

Error missing_path(const fs::path& path, std::optional<SourceLoc> at) {
  if (path_exists(path))
    return bad_input(
        fmt::format("{} is neither a directory nor a list, expected a sample directory, a graph directory or a list "
                    "of them",
                    quoted(path.string(), 400)),
        std::move(at));
  std::vector<std::string> siblings;
  std::error_code status;
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (fs::directory_iterator entry(parent, status), end; !status && entry != end; entry.increment(status)) {
    siblings.push_back(entry->path().filename().string());
  }
  return bad_input(fmt::format("{} does not exist, expected a sample directory, a graph directory or a list of them",
                               quoted(path.string(), 400)),
                   std::move(at))
      .with_hint(did_you_mean(path.filename().string(), siblings));
}

// Where a line of a list points to: below `root`, or below the list's directory, the nearest one above it or the working
// directory, whichever has it first.
Result<fs::path> find_listed(const fs::path& list, const PathLine& line, const fs::path& root) {
  const fs::path below = (root.empty() ? list.parent_path() : root) / line.text;  // an absolute line stays what it is
  if (directory_exists(below)) return below;
  if (root.empty()) {
    const fs::path beside = absolute_path(list).parent_path();
    for (fs::path above = beside; above.has_relative_path(); above = above.parent_path()) {
      if (directory_exists(above.parent_path() / line.text)) return above.parent_path() / line.text;
    }
    if (directory_exists(line.text)) return fs::path(line.text);
  }
  Error error = missing_path(below, SourceLoc{list.string(), line.line, 1});
  if (error.hint.empty() && root.empty()) error.hint = "--root DIR says what the lines of a list are relative to";
  return error;
}

// The samples a directory stands for: itself, or the samples directly in it.
void append_samples(const fs::path& directory, std::vector<fs::path>& samples) {
  std::vector<fs::path> below;
  if (!file_exists(directory / "graph_list.txt") && !is_graph_dir(directory)) {
    std::error_code status;
    for (fs::directory_iterator entry(directory, status), end; !status && entry != end; entry.increment(status)) {
      if (file_exists(entry->path() / "graph_list.txt")) below.push_back(entry->path());
    }
  }
  std::ranges::sort(below);
  if (below.empty()) below.push_back(directory);
  samples.insert(samples.end(), below.begin(), below.end());
}

}  // namespace

TensorMeta* GraphDir::find_record(std::string_view record) { return find_in(*this, record); }
const TensorMeta* GraphDir::find_record(std::string_view record) const { return find_in(*this, record); }

Result<void> match_records(GraphDir& dir) {
  std::unordered_map<std::string_view, const TensorMeta*> by_name;
  std::vector<std::string> recorded;
  for (const auto* records : {&dir.weights, &dir.inputs}) {
    for (const TensorMeta& meta : *records) {
      recorded.push_back(meta.name);
      if (!by_name.emplace(meta.name, &meta).second) {
        return bad_input(fmt::format("a second record has the name {}", quoted(meta.name, 200)), meta.at);
      }
    }
  }
  std::unordered_map<std::string_view, size_t> position;
  for (ir::NodeId id = 0; id < dir.graph.placeholder_count(); ++id) {
    const ir::Node& node = dir.graph.node(id);
    position.emplace(node.target, id);
    if (!by_name.contains(node.target)) {
      return bad_input(fmt::format("argument {} of forward has no record in weight_meta.py", quoted(node.target, 200)),
                       dir.graph.locate(node))
          .with_hint(did_you_mean(node.target, recorded));
    }
  }
  std::vector<std::string> arguments;
  for (const auto& [name, id] : position) arguments.emplace_back(name);
  for (const auto& [name, meta] : by_name) {
    if (position.contains(name)) continue;
    return bad_input(fmt::format("record {} belongs to no argument of forward", quoted(name, 200)), meta->at)
        .with_hint(did_you_mean(name, arguments));
  }
  const auto place = [&](const TensorMeta& meta) { return position.at(meta.name); };
  std::ranges::sort(dir.weights, {}, place);
  std::ranges::sort(dir.inputs, {}, place);
  return {};
}

std::optional<fs::path> graph_directory(const fs::path& path) {
  if (path.filename() == "model.py" && !directory_exists(path)) {
    return path.has_parent_path() ? path.parent_path() : ".";
  }
  if (file_exists(path)) return std::nullopt;
  return path;
}

Result<GraphDir> load_graph_dir(const fs::path& given, fx::Operators operators) {
  const std::optional<fs::path> directory = graph_directory(given);
  if (!directory) {
    return bad_input(
        fmt::format("{} is a file, expected a graph directory or its model.py", quoted(given.string(), 400)));
  }
  return load_graph_dir(SourceFiles({*directory}), *directory, operators);
}

Result<GraphDir> load_graph_dir(const SourceFiles& files, const fs::path& path, fx::Operators operators) {
  GraphDir dir;
  dir.path = path;
  dir.name = directory_name(path);
  const fs::path model = path / "model.py";
  if (!directory_exists(path))
    return bad_input(fmt::format("{} does not exist", quoted(model.string(), 400)))
        .with_hint("give a graph directory or a model.py");
  PASSNET_TRY(SourceFiles::Text text, files.read(model, FileKind::Graph));
  PASSNET_TRY(dir.graph, fx::parse_model(model.string(), std::move(text), operators));
  const bool needs_records = dir.graph.placeholder_count() > 0;
  if (needs_records || entry_exists(path / "weight_meta.py")) {
    PASSNET_TRY(dir.weights, load_meta(files, path / "weight_meta.py"));
  }
  if (entry_exists(path / "input_meta.py")) {
    PASSNET_TRY(dir.inputs, load_meta(files, path / "input_meta.py"));
  }
  PASSNET_TRY_VOID(match_records(dir));
  return dir;
}

Sample with_graphs(Sample sample, const std::vector<std::string>& names) {
  const std::vector<std::string> all = std::exchange(sample.graph_names, {});
  const std::vector<fs::path> paths = std::exchange(sample.graph_paths, {});
  for (size_t i = 0; i < all.size(); ++i) {
    if (std::ranges::find(names, all[i]) == names.end()) continue;
    sample.graph_names.push_back(all[i]);
    sample.graph_paths.push_back(paths[i]);
  }
  return sample;
}

Result<Sample> load_sample(const fs::path& path) {
  if (!directory_exists(path)) return missing_path(path, std::nullopt);
  Sample sample;
  sample.path = path;
  sample.roots = {path};
  sample.name = directory_name(path);
  if (directory_exists(path / "pass_dir")) sample.pass_dir = path / "pass_dir";
  if (const fs::path list = path / "graph_list.txt"; entry_exists(list)) {
    PASSNET_TRY_VOID(list_graphs(sample, list));
    return sample;
  }
  sample.graph_paths = find_graph_dirs(path);
  if (sample.graph_paths.empty()) {
    return bad_input(fmt::format("found no graph in {}, expected graph_list.txt or a directory with model.py",
                                 quoted(path.string(), 400)));
  }
  for (const fs::path& graph : sample.graph_paths) {
    sample.graph_names.push_back(graph == path ? sample.name : graph.lexically_relative(path).string());
  }
  return sample;
}

Result<std::vector<Sample>> load_samples(const std::vector<fs::path>& paths) {
  std::vector<Sample> samples;
  std::map<std::string, fs::path> named;
  for (const fs::path& path : paths) {
    PASSNET_TRY(Sample sample, load_sample(path));
    const auto [known, is_new] = named.emplace(sample.name, path);
    if (!is_new) {
      return bad_input(fmt::format("two samples are named {}: '{}' and '{}'", passnet::quoted(sample.name),
                                   known->second.string(), path.string()))
          .with_hint("give one of them at a time: what is kept of them goes by their names");
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

Result<std::vector<fs::path>> expand_paths(const std::vector<std::string>& paths, const fs::path& root) {
  std::vector<fs::path> samples;
  for (const std::string& given : paths) {
    const fs::path path(given);
    if (directory_exists(path)) {
      append_samples(path, samples);
    } else if (!file_exists(path)) {
      return missing_path(path, std::nullopt);
    } else if (path.filename() == "model.py" || path.filename() == "graph_list.txt") {
      samples.push_back(path.has_parent_path() ? path.parent_path() : fs::path("."));
    } else if (path.extension() == ".py") {
      return bad_input(
                 fmt::format("{} is a Python file, expected a sample directory, a graph directory or a list of them",
                             quoted(given, 400)))
          .with_hint("a graph's file is called model.py; 'passnet pass check' takes passes");
    } else {
      PASSNET_TRY(const std::vector<PathLine> lines, load_list(path, "sample or graph directory"));
      for (const PathLine& line : lines) {
        PASSNET_TRY(const fs::path listed, find_listed(path, line, root));
        append_samples(listed, samples);
      }
    }
  }
  return samples;
}

std::vector<fs::path> find_graph_dirs(const fs::path& root) {
  std::vector<fs::path> found;
  if (!directory_exists(root)) return found;
  GraphWalk walk({root.string()});
  while (const auto next = walk.next()) {
    if (!next->error)
      found.push_back(next->path);
    else if (next->error->kind == Error::Kind::Io)
      log::warn(fmt::format("left out: {}", to_string(*next->error)));
  }
  return found;
}

}  // namespace passnet::graphdir
