// @triton.jit kernels, compiled without a GPU: what comes out, for which request, and what is kept.
#include <gmock/gmock.h>

#include "triton_fixture.h"

namespace passnet::pass {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using TritonBuild = TritonFixture;

TEST_F(TritonBuild, SaysWhatALaunchNeeds) {
  const auto built = build(add_request("bf16"));
  ASSERT_TRUE(built) << to_string(built.error());
  EXPECT_EQ(built->entry, "add");
  EXPECT_EQ(built->object.extension(), ".cubin");
  EXPECT_THAT(built->parameters, ElementsAre("*bf16", "*bf16", "*bf16", "i32"));
  ASSERT_TRUE(built->triton);
  EXPECT_THAT(built->triton->arguments, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(built->triton->threads, 128);
  EXPECT_EQ(built->triton->cluster, 1);
  EXPECT_EQ(built->triton->shared_bytes, 0);
  EXPECT_EQ(built->triton->scratch.size(), 2);
}

}  // namespace
}  // namespace passnet::pass
