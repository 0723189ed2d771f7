// Every file of tests/data/bad is refused with exactly the message that its first lines hold, as comments.
// model_*.py are read as model.py, meta_*.py as weight_meta.py, constraints_*.py as input_tensor_constraints.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/strings.h"
#include "fx/parser.h"
#include "graphdir/constraints.h"
#include "graphdir/meta.h"

namespace passnet::fx {
namespace {

std::vector<std::filesystem::path> bad_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(PASSNET_SOURCE_DIR "/tests/data/bad"))
    files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

// "# line" of each line until the first that is none, without the "# ".
std::string expected_message(const std::string& text) {
  std::string message;
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with("# ")) break;
    message += (message.empty() ? "" : "\n") + std::string(line.substr(2));
  }
  return message;
}

std::string message_for(const std::string& name, const std::string& text) {
  if (name.starts_with("meta_")) {
    const auto records = graphdir::parse_meta(name, text);
    return records ? "no error" : to_string(records.error());
  }
  if (name.starts_with("constraints_")) {
    const auto constraints = graphdir::parse_constraints(name, text);
    return constraints ? "no error" : to_string(constraints.error());
  }
  const auto graph = parse_model(name, std::make_shared<const std::string>(text));
  return graph ? "no error" : to_string(graph.error());
}

class BadInput : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(BadInput, GivesItsMessage) {
  const auto text = read_file(GetParam());
  ASSERT_TRUE(text);
  EXPECT_EQ(message_for(GetParam().filename().string(), *text), expected_message(*text));
}

TEST(BadInputFiles, AreThere) { EXPECT_GE(bad_files().size(), 124u); }

INSTANTIATE_TEST_SUITE_P(Files, BadInput, ::testing::ValuesIn(bad_files()),
                         [](const auto& file) { return file.param.stem().string(); });

}  // namespace
}  // namespace passnet::fx
