// What the journals of finished work have in common: one line of JSON per thing done; of several lines about the same
// thing the last one counts.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/strings.h"

namespace passnet::dataset {

/// text:      of the journal.
/// line_from: Json -> a line; throws Json::exception when the JSON has another form. Such a line is skipped, so what it
///            was about is done again.
/// name_of:   a line -> what it is about.
/// Returns:   the last line of each name.
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
