// Every entry of the tables of tests/data/bad that are read as files of a graph is refused with exactly its message.
#include <gtest/gtest.h>

#include "fx/syntax/parser.h"
#include "graphdir/inputs/constraints.h"
#include "graphdir/inputs/meta.h"
#include "tests/bad_inputs.h"
#include "tests/paths.h"

namespace passnet {

void PrintTo(const BadInput& input, std::ostream* out) { *out << input.text; }

namespace fx {
namespace {

std::vector<BadInput> table(const std::string& name) {
  return read_bad_inputs((tests::source_dir() / "tests/data/bad/").string() + name);
}

template <class T>
std::string message_of(const Result<T>& result) {
  return result ? "no error" : to_string(result.error());
}

class BadModel : public ::testing::TestWithParam<BadInput> {};
class BadMeta : public ::testing::TestWithParam<BadInput> {};
class BadConstraints : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadModel, GivesItsMessage) {
  const auto text = std::make_shared<const std::string>(GetParam().text);
  EXPECT_EQ(message_of(parse_model("model.py", text)), GetParam().message);
}

TEST_P(BadMeta, GivesItsMessage) {
  EXPECT_EQ(message_of(graphdir::parse_meta("weight_meta.py", GetParam().text)), GetParam().message);
}

TEST_P(BadConstraints, GivesItsMessage) {
  EXPECT_EQ(message_of(graphdir::parse_constraints("input_tensor_constraints.py", GetParam().text)),
            GetParam().message);
}

TEST(BadInputs, AreThere) {
  EXPECT_GE(table("models.txt").size(), 71u);
  EXPECT_GE(table("metas.txt").size(), 28u);
  EXPECT_GE(table("constraints.txt").size(), 25u);
}

const auto kNameOf = [](const auto& input) { return input.param.name; };
INSTANTIATE_TEST_SUITE_P(Table, BadModel, ::testing::ValuesIn(table("models.txt")), kNameOf);
INSTANTIATE_TEST_SUITE_P(Table, BadMeta, ::testing::ValuesIn(table("metas.txt")), kNameOf);
INSTANTIATE_TEST_SUITE_P(Table, BadConstraints, ::testing::ValuesIn(table("constraints.txt")), kNameOf);

}  // namespace
}  // namespace fx
}  // namespace passnet
