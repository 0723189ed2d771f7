#include "graphdir/inputs/meta_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace passnet::graphdir {
namespace {

constexpr const char* kText = R"(
class M_all:
	name = "all"
	original_name = "before"
	shape = [2, 1]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = float('nan')
	std = None
	data = [0.1, -inf]
	min_val = -1.5
	max_val = 3e300
class M_integers:
	name = "integers"
	shape = [3]
	dtype = "torch.int64"
	data = [9223372036854775807, 0, -9223372036854775808]
class M_none:
	name = "none"
	shape = []
	dtype = "torch.bool"
)";

TEST(MetaJson, GivesTheSameRecords) {
  const auto records = parse_meta("weight_meta.py", kText);
  ASSERT_TRUE(records) << to_string(records.error());
  const auto back = records_from_json(try_parse_json(to_json(*records).dump()));
  ASSERT_TRUE(back) << to_string(back.error());
  ASSERT_EQ(back->size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(equal((*back)[i], (*records)[i])) << (*records)[i].name;
    EXPECT_EQ((*back)[i].at, (*records)[i].at);
  }
}

TEST(MetaJson, NamesWhatIsNoRecord) {
  const auto message = [](const char* text) { return to_string(records_from_json(try_parse_json(text)).error()); };
  EXPECT_EQ(message("{}"), "error: records: expected an array of objects, found object '{}'");
  EXPECT_EQ(message(R"([{"class": "M"}])"), "error: record: field 'name' is missing, expected a string");
  EXPECT_EQ(message(R"([{"class": "M", "name": "x", "shape": [], "dtype": "float33"}])"),
            "error: record: field 'dtype': expected a dtype such as \"float32\", found string '\"float33\"'");
}

}  // namespace
}  // namespace passnet::graphdir
