// When requests are made again.
#include "http/post.h"

#include <gtest/gtest.h>

#include "http/retry.h"

namespace passnet::http {
namespace {

TEST(Retry, KnowsWhatPasses) {
  for (const int status : {408, 429, 500, 502, 503, 529}) EXPECT_TRUE(is_passing(status)) << status;
  for (const int status : {400, 401, 403, 404, 422}) EXPECT_FALSE(is_passing(status)) << status;
  EXPECT_TRUE(is_passing(resource_error("").with_failure("timeout")));
  EXPECT_FALSE(is_passing(resource_error("interrupted")));
}

TEST(Retry, ReadsSecondsAndDates) {
  constexpr int64_t kNow = 1445412440;  // Wed, 21 Oct 2015 07:27:20 GMT
  EXPECT_EQ(parse_retry_after("12", kNow), 12);
  EXPECT_EQ(parse_retry_after(" 0.5 ", kNow), 0.5);
  EXPECT_EQ(parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT", kNow), 40);
  EXPECT_EQ(parse_retry_after("Wed, 21 Oct 2015 07:00:00 GMT", kNow), 0);
  for (const char* text : {"", "soon", "-3", "nan", "inf"})
    EXPECT_EQ(parse_retry_after(text, kNow), std::nullopt) << text;
}

TEST(Retry, WaitsTwiceAsLongEachTime) {
  const RetryPolicy policy{8, 1, 60, 600};
  EXPECT_EQ(wait_before(1, {}, 0, policy), 0.5);
  EXPECT_EQ(wait_before(3, {}, 0.5, policy), 3);
  EXPECT_EQ(wait_before(30, {}, 0, policy), 30);
  EXPECT_EQ(wait_before(1, 20, 0, policy), 20);
  EXPECT_GT(wait_before(1, 20, 0.9, policy), 20);
}

TEST(Retry, EndsWaitingWhenItIsToStop) {
  const std::atomic<bool> stop = true;
  EXPECT_FALSE(wait(3600, &stop));
  EXPECT_TRUE(wait(0, nullptr));
}

TEST(Post, SaysWhatIsNoUrlAndStopsAtOnce) {
  const Result<Answer> answer = post({"ftp://host/x", {}, "{}"}, {}, {}, nullptr);
  ASSERT_FALSE(answer);
  EXPECT_EQ(to_string(answer.error()), "error: expected http://… or https://…, found 'ftp://host/x'");
  EXPECT_EQ(post({"http://127.0.0.1:1/x", {"Authorization: Bearer secret"}, "{}"}, {}, {}, nullptr).error().failure,
            "connection");
}

}  // namespace
}  // namespace passnet::http
