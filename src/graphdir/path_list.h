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

/// The lines that are neither blank nor comments (#), without the blanks around them. of_what: "graph
/// directory". Errors: BadInput with the line (none is left, a NUL byte).
Result<std::vector<PathLine>> parse_path_list(const std::string& file, std::string_view text, std::string_view of_what);

}  // namespace passnet::graphdir
