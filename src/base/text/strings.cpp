#include "base/text/strings.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/json/json.h"
#include "base/text/visible.h"

namespace passnet {

SourceLoc locate(const std::string& file, std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  SourceLoc loc{file, 1, 1};
  size_t line_start = 0;
  for (size_t at = text.find('\n'); at != std::string_view::npos && at < offset; at = text.find('\n', at + 1)) {
    ++loc.line;
    line_start = at + 1;
  }
  loc.column = static_cast<uint32_t>(offset - line_start + 1);
  return loc;
}

size_t edit_distance(std::string_view a, std::string_view b, size_t limit) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > limit) return limit + 1;
  std::vector<size_t> row(a.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t j = 1; j <= b.size(); ++j) {
    size_t diagonal = row[0];
    row[0] = j;
    size_t best = row[0];
    for (size_t i = 1; i <= a.size(); ++i) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[i];
      row[i] = std::min({row[i] + 1, row[i - 1] + 1, substitute});
      best = std::min(best, row[i]);
    }
    if (best > limit) return limit + 1;
  }
  return row[a.size()];
}

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> candidates) {
  const auto alike = [word](std::string_view name) { return std::ranges::mismatch(word, name).in1 - word.begin(); };
  const auto begins_more_alike = [&](std::string_view a, std::string_view b) { return alike(a) > alike(b); };
  constexpr size_t kMostBytes = 256;  // no name that somebody mistyped
  if (word.size() > kMostBytes) return {};
  const size_t limit = std::max<size_t>(1, word.size() / 4);
  std::string_view best;
  size_t best_distance = limit + 1;
  for (std::string_view candidate : candidates) {
    if (candidate.size() > word.size() + limit) continue;
    const size_t distance = edit_distance(word, candidate, std::min(limit, best_distance));
    if (distance < best_distance ||
        (distance == best_distance && distance <= limit && begins_more_alike(candidate, best))) {
      best_distance = distance;
      best = candidate;
      if (distance == 0) break;
    }
  }
  return best;
}

std::string quoted(std::string_view text, size_t limit) {
  std::string out = "'";
  bool cut = false;
  for_each_character(valid_utf8(text), [&](char32_t code, std::string_view bytes) {
    cut = cut || out.size() > limit;
    if (cut) return;
    if (code == '\n')
      out += "\\n";
    else if (code == '\t')
      out += "\\t";
    else
      out += visible(bytes);
  });
  return out + (cut ? "…'" : "'");
}

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_part = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, is_part);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i) out += separator;
    out += parts[i];
  }
  return out;
}

std::string counted(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KB", "MB", "GB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit < 3; ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}

}  // namespace passnet
