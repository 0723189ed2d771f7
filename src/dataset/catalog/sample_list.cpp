#include "dataset/catalog/sample_list.h"

#include <fmt/format.h>

#include <optional>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/text/strings.h"
#include "graphdir/path_list.h"

namespace passnet::dataset {

namespace {

constexpr const char* kLists[] = {"all", "train", "eval"};
constexpr std::string_view kHeader = "sample,split,graphs,ops\n";

fs::path full(const fs::path& path) { return absolute_path(path); }

// "" when `path` does not lie below `directory`.
std::string below(const fs::path& directory, const fs::path& path) {
  const fs::path relative = full(path).lexically_relative(full(directory));
  if (relative.empty() || *relative.begin() == ".." || relative == ".") return "";
  return (relative.has_filename() ? relative : relative.parent_path()).string();  // "samples/a/" names samples/a
}

// `path` without its first `count` parts; empty when it has no more.
fs::path without_first(const fs::path& path, size_t count) {
  fs::path rest;
  for (const fs::path& part : path) {
    if (count > 0)
      --count;
    else
      rest /= part;
  }
  return rest;
}

/// Finds the place that the lines of one list are relative to, by the first line that names something.
class Places {
 public:
  Places(const fs::path& list, const fs::path& dataset) : directory_(full(list).parent_path()), dataset_(dataset) {}

  /// "" when the line names nothing in the dataset.
  std::string find(const fs::path& line) {
    if (place_) return at(line, *place_);
    for (size_t place = 0; place == 0 || !without_first(line, place - 1).empty(); ++place) {
      if (std::string found = at(line, place); !found.empty()) {
        place_ = place;
        return found;
      }
    }
    return "";
  }

 private:
  // place: 0 for the list's directory, n + 1 for the dataset with the first n parts of the line left out.
  std::string at(const fs::path& line, size_t place) const {
    const fs::path rest = place == 0 ? fs::path() : without_first(line, place - 1);
    if (place > 0 && rest.empty()) return "";
    const fs::path path = place == 0 ? directory_ / line : dataset_ / rest;
    std::string relative = below(dataset_, path);
    return !relative.empty() && path_exists(path) ? relative : "";
  }

  const fs::path directory_, dataset_;
  std::optional<size_t> place_;
};

}  // namespace

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + '"';
}

Result<void> write_lists(const fs::path& directory, const fs::path& dataset, const std::vector<ListedSample>& samples) {
  const fs::path to_dataset = full(dataset).lexically_relative(full(directory));
  for (const std::string_view which : kLists) {
    std::string text, table(kHeader);
    for (const ListedSample& sample : samples) {
      if (which != "all" && sample.split != which) continue;
      text += (to_dataset / sample.path).lexically_normal().string() + "\n";
      table += fmt::format("{},{},{},{}\n", csv_cell(sample.path), sample.split, sample.graphs,
                           csv_cell(join(sample.ops, " ")));
    }
    PASSNET_TRY_VOID(write_file(directory / fmt::format("{}.txt", which), text));
    PASSNET_TRY_VOID(write_file(directory / fmt::format("{}.csv", which), table));
  }
  return {};
}

bool may_write_lists(const fs::path& directory) {
  for (const std::string_view which : kLists) {
    const fs::path text = directory / fmt::format("{}.txt", which), table = directory / fmt::format("{}.csv", which);
    if (!entry_exists(text) && !entry_exists(table)) continue;
    const Result<std::string> found = read_file(table, FileKind::Graph);
    if (!found || !found->starts_with(kHeader)) return false;
  }
  return true;
}

Result<PathList> read_list(const fs::path& list, const fs::path& dataset) {
  PASSNET_TRY(const std::string text, read_file(list, FileKind::Graph));
  if (trim(text).empty()) return PathList();  // as eval.txt of a dataset without samples for evaluation
  PASSNET_TRY(const std::vector<graphdir::PathLine> lines,
              graphdir::parse_path_list(list.string(), text, "sample or graph directory"));
  Places places(list, dataset);
  PathList found;
  for (const graphdir::PathLine& line : lines) {
    if (std::string path = places.find(line.text); !path.empty())
      found.paths.push_back(std::move(path));
    else
      found.missing.push_back(line.text);
  }
  return found;
}

}  // namespace passnet::dataset
