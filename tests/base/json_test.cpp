#include "base/json/json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace passnet {
namespace {

TEST(Json, KeepsTheOrderOfKeys) {
  const Result<Json> json = parse_json(R"({"z": 1, "a": [true, null, "ü"]})", "x.json");
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(json->dump(), R"({"z":1,"a":[true,null,"ü"]})");
}

TEST(Json, SaysWhereAndWhatIsWrong) {
  const Result<Json> json = parse_json("{\n  \"a\": 1,\n  oops\n}", "list.json");
  ASSERT_FALSE(json.has_value());
  EXPECT_EQ(json.error().kind, Error::Kind::BadInput);
  EXPECT_EQ(to_string(json.error()),
            "list.json:3:3: error: not valid JSON: syntax error while parsing object key - invalid literal; "
            "last read: "
            "'1,<U+000A>  o'; expected string literal");
}

TEST(Json, RejectsWhatIsNotJsonThoughOthersWriteIt) {
  for (const char* text : {"", "NaN", "{\"a\": Infinity}", "[1,]", "{'a': 1}", "[1] 2"}) {
    EXPECT_FALSE(parse_json(text, "x").has_value()) << text;
  }
}

TEST(Json, RejectsBytesThatAreNotUtf8) {
  const Result<Json> json = parse_json("[\"\xff\"]", "x.json");
  ASSERT_FALSE(json.has_value());
  EXPECT_THAT(to_string(json.error()), ::testing::StartsWith("x.json:1:3: error: not valid JSON: "));
}

TEST(Json, RejectsNumbersBeyondTheRange) {
  const Result<Json> json = parse_json("[9e999]", "x.json");
  ASSERT_FALSE(json.has_value());
  EXPECT_EQ(to_string(json.error()), "x.json: error: not valid JSON: number overflow parsing '9e999'");
}

TEST(Json, RejectsDeepNesting) {
  EXPECT_TRUE(parse_json(std::string(256, '[') + std::string(256, ']'), "x"));
  EXPECT_TRUE(parse_json("[\"" + std::string(1000, '[') + "\\\"[\"]", "x"));
  EXPECT_EQ(to_string(parse_json(std::string(257, '['), "x.json").error()),
            "x.json:1:257: error: not valid JSON: nested too deeply: more than 256 levels of brackets");
}

}  // namespace
}  // namespace passnet
