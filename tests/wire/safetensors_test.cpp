#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "tests/scratch.h"
#include "wire/bundle.h"

namespace passnet::wire {
namespace {

std::string file_of(const std::string& header, const std::string& data) {
  std::string content(8, '\0');
  for (size_t i = 0; i < 8; ++i) content[i] = static_cast<char>(header.size() >> (8 * i));
  return content + header + data;
}

std::string refusal(const std::string& content) {
  const ScratchDirectory scratch;
  const std::string path = (scratch.path / "hostile.safetensors").string();
  EXPECT_TRUE(write_file(path, content));
  const auto file = load_safetensors(path);
  if (file) return "accepted";
  EXPECT_TRUE(file.error().at && file.error().at->file == path);
  return file.error().message;
}

TEST(Safetensors, ReadsBackWhatItWrote) {
  std::vector<Entry> entries{
      {"x", ir::DType::Float32, {2}, 0}, {"flag", ir::DType::Bool, {}, 0}, {"none", ir::DType::Int64, {0}, 0}};
  std::vector<std::byte> memory(static_cast<size_t>(lay_out(entries)) + 64);
  const std::array<float, 2> values{1.5f, -2.0f};
  std::memcpy(memory.data() + entries[0].offset, values.data(), sizeof values);
  memory[static_cast<size_t>(entries[1].offset)] = std::byte{1};
  const ScratchDirectory scratch;
  const std::string path = (scratch.path / "round.safetensors").string();
  std::vector<SavedTensor> tensors;
  for (const Entry& entry : entries) tensors.push_back({&entry, memory.data() + entry.offset});
  ASSERT_TRUE(save_safetensors(path, tensors));
  const auto file = load_safetensors(path);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->entries.size(), 3u);
  EXPECT_EQ(file->entries[0].name, "x");
  EXPECT_EQ(std::memcmp(file->memory.data() + file->entries[0].offset, values.data(), sizeof values), 0);
  EXPECT_EQ(file->memory.data()[file->entries[1].offset], std::byte{1});
  EXPECT_EQ(file->entries[2].shape, std::vector<int64_t>{0});
}

TEST(Safetensors, HasNoNameForSomeTypes) {
  const ScratchDirectory scratch;
  const Entry entry{"x", ir::DType::Complex128, {1}, 0};
  const std::array<std::byte, 16> memory{};
  const std::vector<SavedTensor> tensors{{&entry, memory.data()}};
  EXPECT_EQ(save_safetensors((scratch.path / "x.safetensors").string(), tensors).error().message,
            "tensor 'x': safetensors has no dtype 'complex128'");
}

TEST(Safetensors, IgnoresFreeText) {
  EXPECT_EQ(refusal(file_of(R"({"__metadata__": {"format": "pt"}})", "")), "accepted");
}

TEST(Safetensors, RefusesHostileFiles) {
  EXPECT_EQ(refusal("abc"), "not a safetensors file: 3 bytes, expected at least 8");
  EXPECT_EQ(refusal(std::string(8, '\xff')),
            "not a safetensors file: header of 18446744073709551615 bytes, but 0 follow");
  EXPECT_EQ(refusal(file_of("[]", "")), "not a safetensors file: the header is not a JSON object");
  EXPECT_EQ(refusal(file_of(R"({"x": 1})", "")), "tensor 'x': expected an object with dtype, shape and data_offsets");
  EXPECT_EQ(refusal(file_of(R"({"x": {"dtype": "F8", "shape": [1], "data_offsets": [0, 1]}})", "1")),
            "tensor 'x': dtype 'F8' is not one that can be read");
  EXPECT_EQ(refusal(file_of(R"({"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}})", "1234")),
            "tensor 'x': data_offsets [0,4], expected a range of 8 bytes");
  EXPECT_EQ(refusal(file_of(R"({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})", "12345")),
            "5 bytes of tensors, expected 4, where the last one ends");
  EXPECT_EQ(refusal(file_of(R"({"x": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}})", "1234")),
            "tensor 'x': bytes 4 to 8, but there are 4");
  EXPECT_EQ(refusal(file_of(R"({"x": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]},
                               "y": {"dtype": "U8", "shape": [2], "data_offsets": [1, 3]}})",
                            "1234")),
            "two tensors overlap at byte 1");
}

TEST(Safetensors, NamesTheFileThatIsNotThere) {
  const auto file = load_safetensors("/nonexistent.safetensors");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message, "cannot open '/nonexistent.safetensors': No such file or directory");
}

}  // namespace
}  // namespace passnet::wire
