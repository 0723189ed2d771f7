#include "base/json/json_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace passnet {
namespace {

struct Part {
  int64_t size = 0;
  bool operator==(const Part&) const = default;
};
struct Whole {
  std::string name;
  double ratio = 0;
  uint8_t level = 0;
  std::vector<int> numbers;
  std::vector<Part> parts;
  std::optional<Part> spare;
  std::string note;
  int since_later = 7;
  bool operator==(const Whole&) const = default;
};

}  // namespace

template <>
struct JsonFields<Part> {
  static constexpr std::string_view kName = "part";
  static void visit(auto& field, auto& part) { field("size", part.size); }
};
template <>
struct JsonFields<Whole> {
  static constexpr std::string_view kName = "whole";
  static void visit(auto& field, auto& whole) {
    field.constant("format", "whole");
    field("name", whole.name);
    field("ratio", whole.ratio);
    field("level", whole.level);
    field("numbers", whole.numbers);
    field("parts", whole.parts);
    field.if_set("spare", whole.spare);
    field.if_set("note", whole.note);
    field.may_lack("since_later", whole.since_later);
  }
};

namespace {

constexpr const char* kLeast =
    R"({"format":"whole","name":"","ratio":0.0,"level":0,"numbers":[],"parts":[],"since_later":7})";

std::string error(const char* text) {
  const Result<Whole> read = from_json_object<Whole>(try_parse_json(text));
  return read ? "" : to_string(read.error());
}

TEST(JsonObject, IsReadBackAsItWasWritten) {
  Whole whole{"a", -std::numeric_limits<double>::infinity(), 255, {1, -2}, {{3}, {4}}, Part{5}, "said", 8};
  EXPECT_EQ(from_json_object<Whole>(try_parse_json(to_json_object(whole).dump())).value(), whole);
  EXPECT_EQ(dump(to_json_object(Whole{})), kLeast);
  EXPECT_EQ(from_json_object<Whole>(try_parse_json(kLeast)).value(), Whole{});
}

TEST(JsonObject, IsAlwaysUtf8) {
  Whole whole;
  whole.name = "\xff";
  EXPECT_EQ(to_json_object(whole).at("name"), "\xef\xbf\xbd");
}

TEST(JsonObject, OlderTextsMayLackAField) {
  Json json = try_parse_json(kLeast);
  json.erase("since_later");
  EXPECT_EQ(from_json_object<Whole>(json).value().since_later, 7);
}

TEST(JsonObject, TheFirstWrongFieldIsNamed) {
  EXPECT_EQ(error("[]"), "error: whole: expected an object, found array '[]'");
  EXPECT_EQ(error("{}"), "error: whole: field 'name' is missing, expected a string");
  EXPECT_EQ(error(R"({"name": 1})"), "error: whole: field 'name': expected a string, found number '1'");
  EXPECT_EQ(error(R"({"name": "", "ratio": "x"})"),
            "error: whole: field 'ratio': expected a number, found string '\"x\"'");
  EXPECT_EQ(error(R"({"name": "", "ratio": 1, "level": 256})"),
            "error: whole: field 'level': expected an integer, found number '256'");
  EXPECT_EQ(error(R"({"name": "", "ratio": 1, "level": 1, "numbers": [2147483648]})"),
            "error: whole: field 'numbers': expected an array of integers, found array '[2147483648]'");
  EXPECT_EQ(error(R"({"name": "", "ratio": 1, "level": 1, "numbers": [], "parts": {}})"),
            "error: whole: field 'parts': expected an array of objects, found object '{}'");
  EXPECT_EQ(error(R"({"name": "", "ratio": 1, "level": 1, "numbers": [], "parts": [{"size": 1}, {"size": 1.5}]})"),
            "error: part: field 'size': expected an integer, found number '1.5'");
}

}  // namespace
}  // namespace passnet
