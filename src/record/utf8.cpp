#include "record/utf8.h"

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace passnet::record {

std::string valid_utf8(std::string_view text) { return Json::parse(dump(Json(text))).get<std::string>(); }

}  // namespace passnet::record
