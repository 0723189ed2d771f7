#include "bench/utf8.h"

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace passnet::bench {

std::string valid_utf8(std::string_view text) {
  const std::string encoded = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(encoded).get<std::string>();
}

}  // namespace passnet::bench
