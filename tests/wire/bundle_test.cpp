#include "wire/bundle.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <nlohmann/json.hpp>

namespace passnet::wire {
namespace {

Entry entry(std::string name, ir::DType dtype, std::vector<int64_t> shape, int64_t offset = 0) {
  return {std::move(name), dtype, std::move(shape), offset};
}

std::string refusal(const std::string& json, int64_t size_bytes) {
  const auto result = entries_from_json(try_parse_json(json), size_bytes);
  return result ? "accepted" : result.error().message;
}

TEST(Bundle, LaysTensorsOutAtMultiplesOf64) {
  std::vector<Entry> entries{entry("a", ir::DType::Float32, {3}), entry("b", ir::DType::Float16, {0, 4}),
                             entry("c", ir::DType::Int64, {}), entry("d", ir::DType::Bool, {65})};
  EXPECT_EQ(lay_out(entries), 128 + 65);
  EXPECT_EQ(entries[0].offset, 0);
  EXPECT_EQ(entries[1].offset, 64);
  EXPECT_EQ(entries[2].offset, 64);
  EXPECT_EQ(entries[3].offset, 128);
}

TEST(Bundle, ExtentEndsWhereTheLastTensorDoesInWhateverOrder) {
  const std::vector<Entry> entries{entry("last", ir::DType::Int64, {2}, 128), entry("first", ir::DType::Float32, {3}),
                                   entry("empty", ir::DType::Int8, {0}, 64)};
  EXPECT_EQ(extent_bytes(entries), 128 + 16);
  EXPECT_EQ(extent_bytes({}), 0);
}

TEST(Bundle, EntriesSurviveJson) {
  std::vector<Entry> entries{entry("x", ir::DType::BFloat16, {2, 5}), entry("ü", ir::DType::Int8, {})};
  const int64_t size = lay_out(entries);
  const auto back = entries_from_json(to_json(entries), size);
  ASSERT_TRUE(back);
  ASSERT_EQ(back->size(), 2u);
  EXPECT_EQ((*back)[0].shape, entries[0].shape);
  EXPECT_EQ((*back)[0].dtype, ir::DType::BFloat16);
  EXPECT_EQ((*back)[1].name, "ü");
  EXPECT_EQ((*back)[1].offset, 64);
}

TEST(Bundle, RefusesEntriesThatLie) {
  EXPECT_EQ(refusal(R"({})", 64), "tensors: expected a list");
  EXPECT_EQ(refusal(R"([{"name": "a"}])", 64), "tensor 0: expected an object with name, dtype, shape and offset");
  EXPECT_EQ(refusal(R"([{"name": "a", "dtype": "float31", "shape": [], "offset": 0}])", 64),
            "tensor 'a': unknown dtype 'float31'");
  EXPECT_EQ(refusal(R"([{"name": "a", "dtype": "int8", "shape": [-1], "offset": 0}])", 64),
            "tensor 'a': negative size -1");
  EXPECT_EQ(refusal(R"([{"name": "a", "dtype": "int8", "shape": 1, "offset": 0}])", 64),
            "tensor 'a': shape is not a list");
  EXPECT_EQ(refusal(R"([{"name": "a", "dtype": "int8", "shape": [1.5], "offset": 0}])", 64),
            "tensor 'a': a size is not an integer");
  EXPECT_EQ(refusal(R"([{"name": "a", "dtype": "int8", "shape": [65], "offset": 0}])", 64),
            "tensor 'a': bytes 0 to 65, but there are 64");
  EXPECT_EQ(refusal(R"([{"name": "a", "dtype": "float32", "shape": [1], "offset": -4}])", 64),
            "tensor 'a': bytes -4 to 0, but there are 64");
  EXPECT_EQ(refusal(R"([{"name": "a", "dtype": "float32", "shape": [1], "offset": 2}])", 64),
            "tensor 'a': offset 2 is not a multiple of its element size 4");
  EXPECT_EQ(refusal(R"([{"name": "a", "dtype": "int64", "shape": [4294967296, 4294967296], "offset": 0}])", 64),
            "tensor 'a': its size does not fit in 64 bits");
  EXPECT_EQ(refusal(R"([{"name": "a", "dtype": "int8", "shape": [8], "offset": 0},
                        {"name": "b", "dtype": "int8", "shape": [8], "offset": 7}])",
                    64),
            "two tensors overlap at byte 7");
}

TEST(Mapping, SharesBytesBetweenMappingsOfOneDescriptor) {
  const auto fd = create_memory("test", 4096);
  ASSERT_TRUE(fd);
  auto writer = Mapping::map(fd->get(), 4096, true);
  ASSERT_TRUE(writer);
  std::memcpy(writer->data(), "hello", 5);
  const auto reader = Mapping::map(fd->get(), 4096, false);
  ASSERT_TRUE(reader);
  EXPECT_EQ(std::memcmp(reader->data(), "hello", 5), 0);
}

TEST(Mapping, SealedMemoryCannotBeChangedAnyMore) {
  const auto fd = create_memory("test", 64);
  ASSERT_TRUE(fd);
  { ASSERT_TRUE(Mapping::map(fd->get(), 64, true)); }
  ASSERT_TRUE(seal(fd->get()));
  EXPECT_FALSE(Mapping::map(fd->get(), 64, true));
  EXPECT_TRUE(Mapping::map(fd->get(), 64, false));
  EXPECT_NE(::ftruncate(fd->get(), 0), 0);
  EXPECT_EQ(::write(fd->get(), "x", 1), -1);
}

TEST(Mapping, CopiesOnWriteWithoutChangingTheBundle) {
  const auto fd = create_memory("test", 8192);
  ASSERT_TRUE(fd);
  {
    const auto writer = Mapping::map(fd->get(), 8192, true);
    ASSERT_TRUE(writer);
    std::memcpy(writer->data(), "hello", 5);
  }
  ASSERT_TRUE(seal(fd->get()));
  const auto working = Mapping::map_copy_on_write(fd->get(), 8192);
  const auto pristine = Mapping::map(fd->get(), 8192, false);
  ASSERT_TRUE(working && pristine);
  EXPECT_EQ(std::memcmp(working->data(), "hello", 5), 0);
  std::memcpy(working->data(), "other", 5);
  EXPECT_EQ(std::memcmp(working->data(), "other", 5), 0);
  EXPECT_EQ(std::memcmp(pristine->data(), "hello", 5), 0);
}

TEST(Mapping, RefusesToSealWhileAWriterIsLeft) {
  const auto fd = create_memory("test", 64);
  ASSERT_TRUE(fd);
  const auto writer = Mapping::map(fd->get(), 64, true);
  ASSERT_TRUE(writer);
  const auto sealed = seal(fd->get());
  ASSERT_FALSE(sealed);
  EXPECT_EQ(sealed.error().message, "cannot seal shared memory: Device or resource busy");
}

TEST(Mapping, RefusesADescriptorThatHoldsLess) {
  const auto fd = create_memory("test", 100);
  ASSERT_TRUE(fd);
  const auto mapping = Mapping::map(fd->get(), 128, false);
  ASSERT_FALSE(mapping);
  EXPECT_EQ(mapping.error().kind, Error::Kind::BadInput);
  EXPECT_EQ(mapping.error().message, "shared memory holds 100 bytes, expected 128");
}

}  // namespace
}  // namespace passnet::wire
