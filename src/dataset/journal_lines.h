// What journals of finished work share: a line of JSON each, the last of a name counts.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/strings.h"

namespace passnet::dataset {

/// The last line of each name. line_from: a line from its JSON; throws Json::exception for another form,
/// which is skipped: what it was about is done again. name_of: a line's name.
template <class LineFrom, class NameOf>
auto last_lines(std::string_view text, LineFrom&& line_from, NameOf&& name_of) {
  using Line = decltype(line_from(std::declval<const Json&>()));
  std::map<std::string, Line> lines;
  for (const std::string_view one : split(text, '\n')) {
    try {
      Line line = line_from(Json::parse(one));
      std::string name = name_of(line);
      lines.insert_or_assign(std::move(name), std::move(line));
    } catch (const Json::exception&) {
      continue;
    }
  }
  return lines;
}

}  // namespace passnet::dataset
