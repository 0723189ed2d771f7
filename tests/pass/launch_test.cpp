#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "pass/plan/launch_list.h"
#include "pass/plan/tensor.h"

namespace passnet::pass {
namespace {

rc::Gen<int64_t> in_range(int64_t low, int64_t high) { return rc::gen::inRange<int64_t>(low, high + 1); }

ir::TensorType any_type() {
  const auto shape = *rc::gen::resize(4, rc::gen::container<std::vector<int64_t>>(in_range(0, 5)));
  return ir::contiguous(static_cast<ir::DType>(*in_range(0, 11)), shape);
}

Buffer any_buffer() {
  Buffer buffer{static_cast<int32_t>(*in_range(-1, 3)), any_type(), std::nullopt};
  if (*rc::gen::arbitrary<bool>())
    buffer.fill = *rc::gen::element(0.0, -0.0, 1.0, 0.1, -1e300, 5e-324, std::numeric_limits<double>::infinity());
  return buffer;
}

View any_view(const std::vector<Buffer>& buffers) {
  const auto index = *rc::gen::inRange<uint32_t>(0, static_cast<uint32_t>(buffers.size()));
  View view{index, 0, buffers[index].type};
  if (!view.type.shape.empty() && view.type.shape[0] > 0) {
    view = *select(view, 0, *in_range(0, view.type.shape[0] - 1));
  }
  return view;
}

LaunchList any_list() {
  LaunchList list;
  list.pass = *rc::gen::string<std::string>();
  std::erase_if(list.pass, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });  // JSON is UTF-8
  for (int64_t i = *in_range(1, 4); i > 0; --i) list.buffers.push_back(any_buffer());
  for (int64_t i = *in_range(0, 3); i > 0; --i) {
    Launch launch;
    launch.kernel = "kernel_" + std::to_string(i);
    launch.grid = *rc::gen::container<std::vector<int64_t>>(static_cast<size_t>(*in_range(1, 3)), in_range(0, 1 << 20));
    launch.block = *in_range(1, kMaxBlock);
    launch.constants = {{"N", *rc::gen::arbitrary<int64_t>()},
                        {"X", *rc::gen::arbitrary<double>()},
                        {"B", *rc::gen::arbitrary<bool>()},
                        {"T", list.buffers[0].type.dtype}};
    launch.args = {any_view(list.buffers), *rc::gen::arbitrary<int64_t>(), *rc::gen::arbitrary<double>(),
                   *rc::gen::arbitrary<bool>()};
    launch.at = {"P.py", *rc::gen::arbitrary<uint32_t>(), *rc::gen::arbitrary<uint32_t>()};
    list.launches.push_back(std::move(launch));
  }
  for (int64_t i = *in_range(0, 3); i > 0; --i) list.outputs.push_back(any_view(list.buffers));
  return list;
}

RC_GTEST_PROP(LaunchListJson, GivesTheSameListBackThroughText, ()) {
  const LaunchList list = any_list();
  const auto json = parse_json(to_json(list).dump(), "list.json");
  RC_ASSERT(json.has_value());
  const auto back = launch_list_from_json(*json);
  if (!back) RC_FAIL(to_string(back.error()));
  RC_ASSERT(*back == list);
}

TEST(LaunchListJson, IsWrittenAsDocumented) {
  LaunchList list;
  list.pass = "add_relu";
  list.buffers = {{0, ir::contiguous(ir::DType::Float32, {4, 8}), std::nullopt},
                  {-1, ir::contiguous(ir::DType::Float32, {4, 8}), -std::numeric_limits<double>::infinity()}};
  list.launches = {{"k",
                    {{"T", ir::DType::Float32}, {"BLOCK", int64_t{64}}},
                    {2},
                    256,
                    {View{0, 8, ir::contiguous(ir::DType::Float32, {8})}, int64_t{32}, 0.5, true},
                    {"P.py", 7, 5}}};
  list.outputs = {{1, 0, ir::contiguous(ir::DType::Float32, {4, 8})}};
  EXPECT_EQ(to_json(list).dump(),
            R"({"pass":"add_relu","buffers":[{"input":0,"dtype":"float32","shape":[4,8],"strides":[8,1]},)"
            R"({"dtype":"float32","shape":[4,8],"strides":[8,1],"fill":"-inf"}],)"
            R"("launches":[{"kernel":"k","constants":[{"name":"T","dtype":"float32"},{"name":"BLOCK","int":64}],)"
            R"("grid":[2],"block":256,"args":[{"buffer":0,"offset":8,"dtype":"float32","shape":[8],"strides":[1]},)"
            R"({"int":32},{"float":0.5},{"bool":true}],"at":{"file":"P.py","line":7,"column":5}}],)"
            R"("outputs":[{"buffer":1,"offset":0,"dtype":"float32","shape":[4,8],"strides":[8,1]}]})");
}

struct BadJson {
  const char* pointer;  // what is replaced in a good list
  const char* value;
  const char* message;
};
void PrintTo(const BadJson& bad, std::ostream* out) { *out << bad.pointer << " = " << bad.value; }

class LaunchListJsonErrors : public testing::TestWithParam<BadJson> {};

TEST_P(LaunchListJsonErrors, NameThePlace) {
  auto json = parse_json(R"({"pass":"p","buffers":[{"dtype":"float32","shape":[4],"strides":[1]}],
    "launches":[{"kernel":"k","constants":[{"name":"N","int":1}],"grid":[1],"block":1,
    "args":[{"buffer":0,"offset":0,"dtype":"float32","shape":[4],"strides":[1]},{"int":1}],
    "at":{"file":"P.py","line":1,"column":1}}],"outputs":[]})",
                         "list.json");
  ASSERT_TRUE(json);
  ASSERT_TRUE(launch_list_from_json(*json));
  (*json)[Json::json_pointer(GetParam().pointer)] = try_parse_json(GetParam().value);
  const auto list = launch_list_from_json(*json);
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().message, GetParam().message);
  EXPECT_EQ(list.error().kind, Error::Kind::BadInput);
}

TEST(LaunchLists, AreAnArrayInJson) {
  EXPECT_EQ(launch_lists_from_json(7).error().message, "launch lists: expected an array, found number '7'");
  EXPECT_EQ(launch_lists_from_json(Json::object()).error().message,
            "launch lists: expected an array, found object '{}'");
  EXPECT_TRUE(launch_lists_from_json(Json::array()).value().empty());
}

const BadJson kBadJson[] = {
    {"", "3", "launch list: expected an object, found '3'"},
    {"/pass", "1", "launch list: pass: found '1', expected a string"},
    {"/buffers", "{}", "launch list: buffers: found '{}', expected a list"},
    {"/buffers/0/dtype", "\"float31\"",
     "launch list: buffers[0].dtype: found '\"float31\"', expected a dtype such as \"float32\""},
    {"/buffers/0/shape", "[-4]", "launch list: buffers[0]: negative size -4 in shape [-4]"},
    {"/buffers/0/strides", "[]", "launch list: buffers[0]: strides do not fit the shape: found 0 strides, expected 1"},
    {"/buffers/0/input", "-1", "launch list: buffers[0].input: found '-1', expected an integer from 0 to 2147483647"},
    {"/launches/0/grid", "[]", "launch list: launches[0].grid: found '[]', expected 1 to 3 sizes"},
    {"/launches/0/grid/0", "1.5", "launch list: launches[0].grid[0]: found '1.5', expected an integer"},
    {"/launches/0/block", "0", "launch list: launches[0].block: found '0', expected an integer from 1 to 1024"},
    {"/launches/0/args/1", "{}",
     "launch list: launches[0].args[1]: found '{}', expected a view, {\"int\": n}, {\"float\": x} or "
     "{\"bool\": b}"},
    {"/launches/0/args/1/int", "18446744073709551615",
     "launch list: launches[0].args[1].int: found '18446744073709551615', expected an integer"},
    {"/launches/0/args/0/buffer", "1",
     "launch list: launches[0].args[0].buffer: found '1', expected an integer from 0 to 0"},
    {"/launches/0/args/0/offset", "1",
     "launch list: launches[0].args[0]: found '{\"buffer\":0,\"offset\":1,\"dtype\":\"float32\"…', expected "
     "a view inside "
     "buffer 0 of 4 float32 elements"},
    {"/launches/0/args/0/dtype", "\"int8\"",
     "launch list: launches[0].args[0]: found '{\"buffer\":0,\"offset\":0,\"dtype\":\"int8\",\"s…', expected "
     "a view inside "
     "buffer 0 of 4 float32 elements"},
    {"/launches/0/constants/0", "{\"name\": \"N\", \"float\": \"x\"}",
     "launch list: launches[0].constants[0].float: found '\"x\"', expected a number, \"nan\", \"inf\" or "
     "\"-inf\""},
    {"/launches/0/at", "{\"file\": \"P.py\", \"line\": 1}", "launch list: launches[0].at.column is missing"},
};
INSTANTIATE_TEST_SUITE_P(Table, LaunchListJsonErrors, testing::ValuesIn(kBadJson));

}  // namespace
}  // namespace passnet::pass
