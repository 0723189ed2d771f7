#include "agent/reward/answer_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <vector>

#include "base/text/strings.h"

namespace passnet::agent {

namespace {

constexpr std::array<std::string_view, 5> kEndings = {".py", ".cpp", ".cu", ".h", ".json"};

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

/// The file name in a line, if it has one: a word with an ending of a pass's files, and no directory but "pass_dir/".
std::optional<std::string> file_name_in(std::string_view line) {
  for (size_t i = 0; i < line.size();) {
    size_t end = i;
    while (end < line.size() && is_name_character(line[end])) ++end;
    std::string_view word = line.substr(i, end - i);
    while (word.ends_with('.')) word.remove_suffix(1);
    const bool is_in_directory = i > 0 && line[i - 1] == '/' && !line.substr(0, i).ends_with("pass_dir/");
    const bool is_file = std::ranges::any_of(
        kEndings, [&](std::string_view ending) { return word.size() > ending.size() && word.ends_with(ending); });
    if (is_file && !is_in_directory && !word.starts_with('.') && word.size() <= kLongestFileName)
      return std::string(word);
    i = std::max(end, i + 1);
  }
  return std::nullopt;
}

struct Block {
  std::string_view heading;   // the last line before it that says something
  std::string_view language;  // what stands after the fence
  std::vector<std::string_view> lines;
};

/// A fence is a line of three or more backquotes or tildes; it ends at one of the same, as long at least.
std::vector<Block> fenced_blocks(std::string_view text) {
  std::vector<Block> blocks;
  std::string_view heading, fence;
  Block block;
  for (std::string_view line : split(text, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view bare = trim(line);
    const size_t length =
        bare.empty() || (bare[0] != '`' && bare[0] != '~') ? 0 : std::min(bare.find_first_not_of(bare[0]), bare.size());
    if (fence.empty() && length >= 3) {
      fence = bare.substr(0, length);
      block = {heading, trim(bare.substr(length)), {}};
    } else if (!fence.empty() && bare.size() == length && length >= fence.size() && bare[0] == fence[0]) {
      blocks.push_back(std::move(block));
      fence = heading = {};
    } else if (!fence.empty()) {
      block.lines.push_back(line);
    } else if (!bare.empty()) {
      heading = bare;
    }
  }
  return blocks;
}

std::optional<std::string> name_of(const Block& block) {
  if (auto name = file_name_in(block.language)) return name;
  const std::string_view first = block.lines.empty() ? std::string_view() : trim(block.lines[0]);
  const bool is_comment = first.starts_with('#') || first.starts_with("//");
  if (is_comment && !first.starts_with("#include")) {
    if (auto name = file_name_in(first)) return name;
  }
  return file_name_in(block.heading);
}

}  // namespace

Result<std::map<std::string, std::string>> files_in_answer(std::string_view text) {
  std::map<std::string, std::string> files;
  for (const Block& block : fenced_blocks(text)) {
    const std::optional<std::string> name = name_of(block);
    if (!name) continue;
    std::string& file = files[*name];
    file.clear();
    for (const std::string_view line : block.lines) file.append(line).append("\n");
  }
  if (!files.empty()) return files;
  return bad_pass("no file in the answer, expected a fenced block per file with the file's name before it");
}

std::string answer_with(const std::map<std::string, std::string>& files) {
  std::string answer;
  for (const auto& [name, text] : files) {
    // No line of the file may end its block.
    std::string fence = "```";
    while (text.find(fence) != std::string::npos) fence += '`';
    const std::string_view end = text.empty() || text.ends_with('\n') ? "" : "\n";
    answer += fmt::format("{}{}\n{}\n{}{}{}\n", answer.empty() ? "" : "\n", name, fence, text, end, fence);
  }
  return answer;
}

}  // namespace passnet::agent
