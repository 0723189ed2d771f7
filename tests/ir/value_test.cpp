// VALUE of docs/protocol.md: what is read, what is written, and what is refused.
#include "ir/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace passnet::ir {
namespace {

Value read(const char* text) {
  Result<Value> value = value_from_json(try_parse_json(text));
  EXPECT_TRUE(value) << text << ": " << to_string(value.error());
  return value ? *value : Value{};
}

TEST(Value, IsWrittenAsItWasRead) {
  for (const char* text :
       {R"({"dtype":"bfloat16","shape":[2,3],"strides":[1,2]})", R"({"int":-3})", R"({"float":0.5})",
        R"({"float":"-inf"})", R"({"bool":true})", R"({"none":true})", R"({"unknown":"it depends on data"})",
        R"({"list":[{"int":1},{"list":[]},{"dtype":"bool","shape":[],"strides":[]}]})",
        R"({"dtype":"float32","shape":[2],"strides":[1],"statistics":{"mean":0.5,"std":1.5,"data":[-1.0,2.0]}})",
        R"({"dtype":"int64","shape":[99],"strides":[1],"statistics":{"min":-1,"max":7}})",
        R"({"dtype":"bool","shape":[2],"strides":[1],"statistics":{"data":[0,1]}})",
        R"({"dtype":"complex64","shape":[2],"strides":[1],"statistics":{}})"})
    EXPECT_EQ(to_json(read(text)).dump(), text);
}

TEST(Value, OfATensorWithoutStridesIsContiguous) {
  EXPECT_EQ(read(R"({"dtype": "float32", "shape": [4, 8]})").tensor()->strides, (std::vector<int64_t>{8, 1}));
}

TEST(Value, OfAFloatThatJsonDroppedIsNan) { EXPECT_TRUE(std::isnan(std::get<double>(read(R"({"float": null})").is))); }

TEST(Value, SaysItsTypeToPeople) {
  EXPECT_EQ(type_text(read(R"({"dtype": "float32", "shape": [1, 3], "strides": [1, 1]})")), "float32[1, 3]");
  EXPECT_EQ(type_text(read(R"({"list": [{"dtype": "int64", "shape": [2]}, {"int": 5}, {"none": true}]})")),
            "(int64[2], int, none)");
  EXPECT_EQ(type_text(read(R"({"unknown": "its mask has data"})")), "? its mask has data");
}

TEST(Value, OfAnotherFormIsRefused) {
  for (const char* text : {R"({"dtype": "float33", "shape": []})", R"({"dtype": "int8"})", R"({"int": "one"})",
                           R"({"float": "much"})", R"({"list": 3})", R"({"list": [{"bool": 1}]})"})
    EXPECT_FALSE(value_from_json(try_parse_json(text))) << text;
  EXPECT_EQ(value_from_json(Json{{"dtype", "float33"}, {"shape", Json::array()}}).error().message,
            "unknown dtype 'float33'");
}

TEST(Value, OfANodeBehindTheEndIsNoTensor) {
  EXPECT_EQ(tensor_type({}, 0), nullptr);
  EXPECT_EQ(tensor_type({read(R"({"int": 1})")}, 0), nullptr);
}

}  // namespace
}  // namespace passnet::ir
