#include "agent/tools/workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/text/strings.h"

namespace passnet::agent {

namespace {

bool is_link(const fs::path& path) {
  std::error_code failed;
  return fs::is_symlink(fs::symlink_status(path, failed));
}

// A graph's place below graphs/, by the name in its list.
fs::path place_of(const std::string& name) {
  fs::path path = fs::path(name).lexically_normal();
  if (path.is_absolute() || name.find("..") != std::string::npos) path = path.filename();
  return *path.begin() == "graphs" ? path : "graphs" / path;
}

}  // namespace

Result<fs::path> Workspace::resolve(std::string_view path) const {
  if (path.find('\0') != std::string_view::npos) return bad_input("path: expected text, found a NUL byte in it");
  const fs::path asked{std::string(path)};
  const auto refuse = [&](const char* why) -> Error {
    return bad_input(fmt::format("path {}: {}, expected one inside of the workspace", quoted(path), why))
        .with_hint(fmt::format("paths are relative: '{}/NAME.py', 'graphs'; '.' lists what is there", kPassDir));
  };
  if (asked.is_absolute()) return refuse("it is absolute");
  fs::path place = root_;
  for (const fs::path& part : asked) {
    if (part == "..") return refuse("it has '..'");
    if (part.empty() || part == ".") continue;
    place /= part;
    if (is_link(place)) return refuse("it goes through a link");
  }
  return place;
}

Result<fs::path> Workspace::resolve_writable(std::string_view path) const {
  PASSNET_TRY(fs::path place, resolve(path));
  const fs::path relative = place.lexically_relative(root_);
  if (*relative.begin() == kPassDir && relative != kPassDir) return place;
  return bad_input(fmt::format("path {}: only files in {} can be written", quoted(path), kPassDir))
      .with_hint(fmt::format("'{}/{}'", kPassDir, relative.filename().string()));
}

Result<std::string> Workspace::read(std::string_view path) const {
  PASSNET_TRY(const fs::path place, resolve(path));
  if (!entry_exists(place)) {
    const std::vector<std::string> there = list(root_);
    const std::vector<std::string_view> names(there.begin(), there.end());
    Error error = bad_input(fmt::format("path {}: there is no such file", quoted(path)));
    if (const std::string_view near = nearest_name(path, names); !near.empty())
      error.hint = fmt::format("did you mean '{}'?", near);
    return error;
  }
  return read_beneath(root_, place.lexically_relative(root_), FileKind::Kernel);
}

std::vector<std::string> Workspace::list(const fs::path& directory) const {
  std::vector<std::string> files;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(directory, failed), end; !failed && at != end; at.increment(failed)) {
    if (at->is_symlink(failed) || !at->is_regular_file(failed)) continue;
    files.push_back(at->path().lexically_relative(root_).string());
  }
  std::ranges::sort(files);
  return files;
}

Result<void> make_workspace(const graphdir::Sample& sample, const fs::path& root) {
  PASSNET_TRY_VOID(make_directories(root / kPassDir));
  const SourceFiles files(sample.roots);
  std::string names;
  for (size_t i = 0; i < sample.graph_paths.size(); ++i) {
    const fs::path place = root / place_of(sample.graph_names[i]);
    PASSNET_TRY(const std::vector<fs::path> entries, passnet::list_directory(sample.graph_paths[i]));
    for (const fs::path& entry : entries) {
      // model.py, its records of tensors and other files that tell of the graph.
      if (!file_exists(entry)) continue;
      const Result<SourceFiles::Text> text = files.read(entry, FileKind::Kernel);
      if (text) PASSNET_TRY_VOID(write_file(place / entry.filename(), **text));
    }
    names += place.lexically_relative(root / "graphs").string() + "\n";
  }
  return write_file(root / "graph_list.txt", std::string_view(names));
}

graphdir::Sample task_of(const graphdir::Sample& sample, const Workspace& workspace) {
  graphdir::Sample task = sample;
  task.path = workspace.root();
  task.pass_dir = workspace.pass_dir();
  task.roots.push_back(workspace.root());
  return task;
}

}  // namespace passnet::agent
