#include <fmt/format.h>

#include <algorithm>

#include "agent/feedback/feedback.h"
#include "base/text/strings.h"

namespace passnet::agent {

std::string shorten_text(const std::string& text, int64_t max_tokens) {
  const size_t limit = static_cast<size_t>(std::max<int64_t>(max_tokens, 16)) * 4;
  if (text.size() <= limit) return text;
  // What comes first says more, what comes last is the hint.
  const size_t head = limit * 3 / 4, tail = limit / 4;
  return valid_utf8(text.substr(0, head)) + fmt::format("\n[… {} bytes left out …]\n", text.size() - head - tail) +
         valid_utf8(text.substr(text.size() - tail));
}

std::string cut_compiler_output(std::string_view text, size_t max_lines) {
  const std::vector<std::string_view> lines = split(text, '\n');
  const auto holds = [](std::string_view line, std::string_view word) {
    return line.find(word) != std::string_view::npos;
  };
  std::string kept;
  size_t count = 0, errors = 0;
  size_t follow = 0;  // lines after an error that show its place
  for (const std::string_view line : lines) {
    const bool is_error = holds(line, "error");
    errors += is_error ? 1 : 0;
    if (is_error) follow = 3;
    const bool is_layout = holds(line, "In file included") || holds(line, "note:") || holds(line, "required from");
    if (!is_error && (follow == 0 || is_layout)) {
      if (is_layout) follow = 0;
      continue;
    }
    if (!is_error) --follow;
    if (count++ < max_lines) kept += std::string(line) + "\n";
  }
  // No compiler: the words are what there is.
  if (errors == 0) {
    for (size_t i = 0; i < std::min(lines.size(), max_lines); ++i) kept += std::string(lines[i]) + "\n";
    count = lines.size();
  }
  if (count > max_lines) kept += fmt::format("[and {} more lines]\n", count - max_lines);
  while (kept.ends_with('\n')) kept.pop_back();
  return kept;
}

}  // namespace passnet::agent
