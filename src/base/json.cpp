#include "base/json.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/strings.h"

namespace passnet {

Result<Json> parse_json(std::string_view text, const std::string& where) {
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& problem) {
    const size_t offset = std::min(problem.byte > 0 ? problem.byte - 1 : 0, text.size());
    std::string message = problem.what();  // "[json.exception…] parse error at line 1, column 2: <what>"
    if (const size_t colon = message.find(": "); colon != std::string::npos) message = message.substr(colon + 2);
    return bad_input("not valid JSON: " + message, locate(where, text, offset));
  }
}

}  // namespace passnet
