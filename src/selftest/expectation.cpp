#include "selftest/expectation.h"

#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "base/json/json_object.h"

namespace passnet {

PASSNET_JSON_FIELDS(selftest::Expectation, "expect.json",
                    PASSNET_FIELDS_MAY_LACK(device) PASSNET_FIELDS_IF_SET(rows) PASSNET_FIELDS(what, graph, verdict)
                        PASSNET_FIELDS_IF_SET(reason, layers, timeout_s, allow_library, host_code))

}  // namespace passnet

namespace passnet::selftest {

SourceLoc Expectation::place_of(const std::string& field) const {
  const auto known = places.find(field);
  return known == places.end() ? at : known->second;
}

Result<Expectation> parse_expectation(const std::string& text, const std::string& file) {
  PASSNET_TRY(const Json json, parse_json(text, file));
  Result<Expectation> read = from_json_object<Expectation>(json);
  if (!read) return bad_input(read.error().message, SourceLoc{file, 0, 0});
  read->at = {file, 0, 0};
  return read;
}

std::string render_expectation(const Expectation& expected) { return dump(to_json_object(expected), 2) + "\n"; }

}  // namespace passnet::selftest
