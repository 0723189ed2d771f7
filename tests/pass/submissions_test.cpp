// Passes that models submitted to the public benchmark: how many are read. They lie beside the checkout, if at all.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "base/file/file.h"
#include "pass/source.h"
#include "tests/fx/corpus.h"

namespace passnet::pass {
namespace {

namespace fs = std::filesystem;

/// The listed passes below a directory, each text once.
std::set<fs::path> listed_passes(const fs::path& root) {
  std::map<std::string, fs::path> by_text;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() != kListFile) continue;
    const auto list = read_file(entry.path(), FileKind::Lines);
    const auto names =
        list ? parse_pass_names(entry.path().string(), *list) : Result<std::vector<std::string>>(Error{});
    if (!names) continue;
    for (const std::string& name : *names) {
      const fs::path path = entry.path().parent_path() / (name + ".py");
      if (const auto text = read_file(path, FileKind::Lines)) by_text.emplace(*text, path);
    }
  }
  std::set<fs::path> paths;
  for (const auto& [text, path] : by_text) paths.insert(path);
  return paths;
}

// About 4 of 100 are broken wherever they run, and 2 compute with PyTorch, which is refused.
TEST(Submissions, AreReadButForThoseThatNothingReads) {
  const fs::path root = fx::corpus() / "submissions";
  if (!fs::is_directory(root)) GTEST_SKIP() << "the submissions are not read: " << root.string() << " does not exist";
  const std::set<fs::path> passes = listed_passes(root);
  std::map<std::string, size_t> refused;
  size_t read = 0;
  for (const fs::path& path : passes) {
    const auto pass = load_pass(path);
    read += pass ? 1 : 0;
    if (!pass) ++refused[pass.error().message];
  }
  ASSERT_GT(passes.size(), 1000u);
  std::string why;
  for (const auto& [message, count] : refused) why += fmt::format("{} {}\n", count, message);
  EXPECT_GE(read * 100, passes.size() * 93) << read << " of " << passes.size() << " are read\n" << why;
}

}  // namespace
}  // namespace passnet::pass
