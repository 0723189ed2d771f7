#include "runtime/tensor/written_pages.h"

#include <gtest/gtest.h>

#include <cstring>

#include "wire/bundle.h"

namespace passnet::runtime {
namespace {

constexpr int64_t kPage = 4096;

TEST(WrittenPages, AreThoseOfTheProcessAlone) {
  const auto fd = wire::create_memory("test", 64 * kPage);
  ASSERT_TRUE(fd);
  const auto mapping = wire::Mapping::map_copy_on_write(fd->get(), 64 * kPage);
  ASSERT_TRUE(mapping);
  std::byte* const data = mapping->data();
  if (!has_written_pages(data, kPage)) GTEST_SKIP() << "this kernel does not show /proc/self/pagemap";
  EXPECT_EQ(has_written_pages(data, 64 * kPage), false);  // not even looked at
  EXPECT_EQ(std::memchr(data, 1, 64 * kPage), nullptr);
  EXPECT_EQ(has_written_pages(data, 64 * kPage), false);  // read
  data[5 * kPage + 7] = std::byte{1};
  EXPECT_EQ(has_written_pages(data, 64 * kPage), true);
  EXPECT_EQ(has_written_pages(data, 5 * kPage), false);
  EXPECT_EQ(has_written_pages(data + 5 * kPage - 1, 2), true);
  EXPECT_EQ(has_written_pages(data + 6 * kPage, 58 * kPage), false);
  EXPECT_EQ(has_written_pages(data, 0), false);
}

}  // namespace
}  // namespace passnet::runtime
