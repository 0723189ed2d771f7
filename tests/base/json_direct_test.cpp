// Structs from text without a tree: what is read is what from_json_object() reads, and all else is left to that.
#include "base/json/json_direct.h"

#include <gtest/gtest.h>

#include <limits>

namespace passnet {
namespace {

struct Inner {
  int64_t size = 0;
  bool operator==(const Inner&) const = default;
};
struct Outer {
  std::string name;
  double ratio = 0;
  bool flag = false;
  int8_t level = 0;
  uint64_t seed = 0;
  std::vector<double> times;
  std::vector<Inner> inner;
  std::map<std::string, std::string> hashes;
  std::optional<Inner> spare;
  bool operator==(const Outer&) const = default;
};

}  // namespace

PASSNET_JSON_FIELDS(Inner, "inner", PASSNET_FIELDS(size))
template <>
struct JsonFields<Outer> {
  static constexpr std::string_view kName = "outer";
  static void visit(auto& field, auto& it) {
    PASSNET_FIELDS(name)
    field.constant("passnet", "0.1.0");
    PASSNET_FIELDS(ratio, flag, level, seed, times, inner, hashes) PASSNET_FIELDS_IF_SET(spare)
  }
};

namespace {

const Outer kOuter{"a\n\"\xc3\xa9",
                   -std::numeric_limits<double>::infinity(),
                   true,
                   -7,
                   1ULL << 63,
                   {1, -0.5, 1e-9, 19.982},
                   {{1}, {-2}},
                   {{"b", "c"}, {"d", ""}},
                   Inner{3}};

TEST(DirectReader, ReadsWhatIsWritten) {
  for (const Outer& outer : {Outer{}, kOuter})
    EXPECT_EQ(DirectReader::read<Outer>(compact(to_json_object(outer))), outer) << compact(to_json_object(outer));
}

TEST(DirectReader, LeavesAllElseToTheTree) {
  const auto with_level = [](const char* level) {
    return std::string(R"({"name":"","passnet":"","ratio":0,"flag":false,"level":)") + level +
           R"(,"seed":0,"times":[],"inner":[],"hashes":{}})";
  };
  EXPECT_TRUE(DirectReader::read<Outer>(with_level("-128")));
  for (const char* level : {"128", "07", "+1", "1.0", "1e0", "", "-", "true", "\"1\"", "1 ", "1,\"level\":2"})
    EXPECT_FALSE(DirectReader::read<Outer>(with_level(level))) << level;
  EXPECT_FALSE(DirectReader::read<Outer>(with_level("1") + " "));
  EXPECT_FALSE(DirectReader::read<Outer>(""));
}

TEST(DirectReader, AgreesWithTheTreeOnDamagedText) {
  const std::string text = compact(to_json_object(kOuter));
  size_t taken = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    for (const char other : {'\0', '"', '\\', ',', '}', '0', '9', '-', '.', 'e', ' ', '\xff'}) {
      std::string damaged = text;
      damaged[at] = other;
      const std::optional<Outer> read = DirectReader::read<Outer>(damaged);
      if (!read) continue;
      const Result<Outer> expected = from_json_object<Outer>(try_parse_json(damaged));
      ASSERT_TRUE(expected) << damaged;
      EXPECT_EQ(*read, *expected) << damaged;
      ++taken;
    }
  }
  EXPECT_GT(taken, 100u);
}

}  // namespace
}  // namespace passnet
