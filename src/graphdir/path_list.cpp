#include "graphdir/path_list.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace passnet::graphdir {

Result<std::vector<PathLine>> parse_path_list(const std::string& file, std::string_view text,
                                              std::string_view of_what) {
  std::vector<PathLine> lines;
  uint32_t number = 0;
  for (std::string_view raw : split(text, '\n')) {
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

}  // namespace passnet::graphdir
