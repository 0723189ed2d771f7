#include "graphdir/graph_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/file/file.h"
#include "base/text/strings.h"

namespace passnet::graphdir {

bool is_graph_dir(const fs::path& path) { return entry_exists(path / "model.py"); }

Result<void> require_below(const fs::path& root, const fs::path& graph, const std::string& name, const SourceLoc& at) {
  const fs::path below = graph.lexically_normal().lexically_relative(root.lexically_normal());
  if (below.empty() || *below.begin() == "..")
    return bad_input(fmt::format("graph {} lies elsewhere, expected one below '{}'", quoted(name, 200), root.string()),
                     at)
        .with_hint("name the graph's directory itself, or list it in a file that is no graph_list.txt");
  fs::path place = root;
  for (const fs::path& part : below) {
    std::error_code failed;
    if (fs::is_symlink(fs::symlink_status(place /= part, failed)))
      return bad_input(fmt::format("graph {} is reached through a link, expected directories", quoted(name, 200)), at)
          .with_hint(fmt::format("below '{}' no link is followed: put there what '{}' points to", root.string(),
                                 place.lexically_relative(root).string()));
  }
  return {};
}

std::optional<GraphWalk::Found> GraphWalk::next() {
  for (;;) {
    while (!levels_.empty() && levels_.back().names.empty()) levels_.pop_back();
    std::optional<Found> found;
    if (!levels_.empty()) {
      const fs::path directory = levels_.back().directory / levels_.back().names.back();
      levels_.back().names.pop_back();
      found = enter(directory);
    } else if (!found_any_) {
      found_any_ = true;
      const std::string& given = paths_[next_path_ - 1];
      return Found{given, bad_input(fmt::format("found no graph at or below {}, expected directories with model.py",
                                                quoted(given, 400)))};
    } else if (next_path_ < paths_.size()) {
      found = start(paths_[next_path_++]);
    } else {
      return std::nullopt;
    }
    if (!found) continue;
    found_any_ = true;
    return found;
  }
}

std::optional<GraphWalk::Found> GraphWalk::start(const std::string& given) {
  const fs::path path(given);
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (status.type() == fs::file_type::not_found)
    return Found{path, bad_input(fmt::format("{} does not exist", quoted(given, 400)))};
  if (failure) return Found{path, io_error("open", given, failure.value())};
  if (status.type() != fs::file_type::directory) return Found{path, std::nullopt};
  found_any_ = false;
  return enter(path);
}

// The directory itself when it is a graph; else its subdirectories are put in line.
std::optional<GraphWalk::Found> GraphWalk::enter(const fs::path& directory) {
  if (is_graph_dir(directory)) return Found{directory, std::nullopt};
  std::vector<std::string> names;
  std::error_code failure;
  for (fs::directory_iterator entry(directory, failure), end; !failure && entry != end; entry.increment(failure)) {
    std::error_code ignored;
    if (!entry->is_symlink(ignored) && entry->is_directory(ignored)) names.push_back(entry->path().filename().string());
  }
  if (failure) return Found{directory, io_error("read", directory.string(), failure.value())};
  std::ranges::sort(names, std::greater{});
  levels_.push_back({directory, std::move(names)});
  return std::nullopt;
}

}  // namespace passnet::graphdir
