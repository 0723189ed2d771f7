#include "graphdir/path_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "base/text/strings.h"

namespace passnet::graphdir {

namespace {

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

// The cells of a line of a table. A quote within quotes is written twice.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted_cell = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted_cell && i + 1 < line.size() && line[i + 1] == '"')
      cells.back() += line[++i];
    else if (c == '"')
      quoted_cell = !quoted_cell;
    else if (c == ',' && !quoted_cell)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

}  // namespace

Result<std::vector<PathLine>> parse_path_list(const std::string& file, std::string_view text,
                                              std::string_view of_what) {
  std::vector<PathLine> lines;
  uint32_t number = 0;
  for (std::string_view raw : split(without_mark(text), '\n')) {
    ++number;
    const std::string_view line = trim(raw);
    if (line.find('\0') != std::string_view::npos)
      return bad_input("found a NUL byte, expected a list of paths", SourceLoc{file, number, 1});
    if (!line.empty() && line.front() != '#') lines.push_back({std::string(line), number});
  }
  if (lines.empty())
    return bad_input(fmt::format("the list is empty, expected one {} per line", of_what), SourceLoc{file, 0, 0});
  return lines;
}

Result<std::vector<PathLine>> parse_path_table(const std::string& file, std::string_view text,
                                               std::string_view of_what) {
  PASSNET_TRY(const std::vector<PathLine> lines, parse_path_list(file, text, of_what));
  const std::vector<std::string> head = cells_of(lines.front().text);
  auto column = std::ranges::find(head, "sample_path");
  if (column == head.end()) column = std::ranges::find(head, "path");
  if (column == head.end()) {
    return bad_input(fmt::format("found the columns {}, expected one of them to be 'sample_path' or 'path'",
                                 quoted(lines.front().text, 200)),
                     SourceLoc{file, lines.front().line, 1});
  }
  const auto at = static_cast<size_t>(column - head.begin());
  std::vector<PathLine> paths;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> cells = cells_of(lines[i].text);
    if (cells.size() <= at || trim(cells[at]).empty()) {
      return bad_input(fmt::format("the line has no '{}'", *column), SourceLoc{file, lines[i].line, 1});
    }
    paths.push_back({std::string(trim(cells[at])), lines[i].line});
  }
  if (paths.empty())
    return bad_input(fmt::format("the list is empty, expected one {} per line", of_what), SourceLoc{file, 0, 0});
  return paths;
}

Result<std::vector<PathLine>> parse_path_json(const std::string& file, std::string_view text,
                                              std::string_view of_what) {
  PASSNET_TRY(std::vector<PathLine> lines, parse_path_list(file, text, of_what));
  for (PathLine& line : lines) {
    Json path = try_parse_json(line.text);
    for (const char* name : {"sample_path", "path"}) {
      if (path.is_object() && path.contains(name)) path = Json(path[name]);
    }
    if (!path.is_string())
      return bad_input(fmt::format("found {}, expected an object with 'sample_path' or 'path'", quoted(line.text, 200)),
                       SourceLoc{file, line.line, 1});
    line.text = path.get<std::string>();
  }
  return lines;
}

}  // namespace passnet::graphdir
