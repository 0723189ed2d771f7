#include "selftest/expectation.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/json_object.h"

namespace passnet {

template <>
struct JsonFields<selftest::Expectation> {
  static constexpr std::string_view kName = "expect.json";
  static void visit(auto& field, auto& expected) {
    field.may_lack("device", expected.device);
    field.if_set("rows", expected.rows);
    field("what", expected.what);
    field("graph", expected.graph);
    field("verdict", expected.verdict);
    field.if_set("reason", expected.reason);
    field.if_set("layers", expected.layers);
    field.if_set("timeout_s", expected.timeout_s);
    field.if_set("allow_library", expected.allow_library);
    field.if_set("host_code", expected.host_code);
  }
};

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
