// Lists of paths as text: graph_list.txt and the list files that commands take.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace passnet::graphdir {

struct PathLine {
  std::string text;
  uint32_t line = 0;
};

/// file:     names the text in messages; of_what: what each line names there, "graph directory".
/// Returns:  the lines that are neither blank nor comments (#), without the blanks around them and a byte order mark.
/// Errors:   BadInput: no line is left, or a line holds a NUL byte.
Result<std::vector<PathLine>> parse_path_list(const std::string& file, std::string_view text, std::string_view of_what);

/// The same of a table: a line per path after a head that names the columns, separated by commas, texts with commas in
/// double quotes. The paths are in the first of the columns `sample_path`, `path` that there is.
/// Errors: BadInput: no such column, no line after the head, a line that lacks the column.
Result<std::vector<PathLine>> parse_path_table(const std::string& file, std::string_view text,
                                               std::string_view of_what);

/// The same of JSON lines: each a path, or an object with one as `sample_path` or `path`.
/// Errors: BadInput: a line that is neither, no line.
Result<std::vector<PathLine>> parse_path_json(const std::string& file, std::string_view text, std::string_view of_what);

}  // namespace passnet::graphdir
