#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/file/file.h"
#include "base/text/strings.h"
#include "cluster/merge.h"
#include "cluster/new_directory.h"

namespace passnet::cluster {

namespace {

/// Directories of the output of `dataset samples` that it writes anew each time.
constexpr const char* kLists = "lists";

bool is_at_top(const fs::path& file) { return std::next(file.begin()) == file.end(); }
bool is_journal(const fs::path& file) { return is_at_top(file) && file.extension() == ".jsonl"; }
bool is_written_anew(const fs::path& file) { return is_at_top(file) || *file.begin() == kLists; }

// The regular files of a part, relative to it, sorted.
Result<std::vector<fs::path>> files_below(const fs::path& part) {
  std::vector<fs::path> files;
  std::error_code failed, ignored;
  fs::recursive_directory_iterator entry(part, failed);
  for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    if (!entry->is_symlink(ignored) && entry->is_regular_file(ignored))
      files.push_back(entry->path().lexically_relative(part));
  }
  if (failed) return io_error("read", part.string(), failed.value());
  std::ranges::sort(files);
  return files;
}

}  // namespace

Result<std::vector<std::string>> merge_trees(const MergeRequest& request) {
  PASSNET_TRY(NewDirectory out, NewDirectory::begin(request.out));
  std::map<fs::path, fs::path> part_of;  // by file
  std::map<fs::path, std::string> journals;
  std::set<std::string> left;
  for (const fs::path& part : request.runs) {
    PASSNET_TRY(const std::vector<fs::path> files, files_below(part));
    for (const fs::path& file : files) {
      PASSNET_TRY(const std::string text, read_beneath(part, file, FileKind::Program));
      if (is_journal(file)) {
        journals[file] += text.substr(0, text.rfind('\n') + 1);
        continue;
      }
      const auto [known, is_new] = part_of.emplace(file, part);
      if (is_new) {
        PASSNET_TRY_VOID(write_file(out.partial() / file, std::string_view(text)));
        continue;
      }
      PASSNET_TRY(const std::string other, read_beneath(known->second, file, FileKind::Program));
      if (other == text) continue;
      if (!is_written_anew(file))
        return bad_input(fmt::format("'{}' and '{}' both have another {}, expected each item in one of them",
                                     known->second.string(), part.string(), quoted(file.string(), 200)))
            .with_hint("remove it from the one that is not wanted");
      left.insert(file.string());
    }
  }
  for (const std::string& file : left) {
    std::error_code ignored;
    fs::remove(out.partial() / file, ignored);
  }
  for (const auto& [file, text] : journals) PASSNET_TRY_VOID(write_file(out.partial() / file, std::string_view(text)));
  PASSNET_TRY_VOID(out.finish());
  return std::vector<std::string>(left.begin(), left.end());
}

}  // namespace passnet::cluster
