#include "agent/reward/jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/file/temporary_directory.h"

namespace passnet::agent {
namespace {

using testing::ElementsAre;

/// A queue at a time that the test sets.
class Jobs : public testing::Test {
 protected:
  void open(const JobLimits& limits = {}) {
    queue_.reset();
    auto opened = JobQueue::open(place_->path(), limits, [this] { return now_; });
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    queue_ = std::move(*opened);
  }
  std::string add(const std::string& client, const std::string& request) {
    const auto ids = queue_->add(client, {{request, {}}});
    EXPECT_TRUE(ids.has_value()) << ids.error().message;
    return ids ? ids->front() : "";
  }
  std::string refusal(const std::string& client, const std::vector<NewJob>& jobs) {
    const auto ids = queue_->add(client, jobs);
    EXPECT_TRUE(ids.has_value() || ids.error().failure == "limit");
    return ids ? "" : ids.error().message;
  }
  /// Ends those that wait, in turn. Returns: their requests.
  std::vector<std::string> drain() {
    std::vector<std::string> requests;
    while (queue_->counts().queued > 0) {
      const auto begun = queue_->take({});
      requests.push_back(begun->request);
      queue_->end(*begun->job, JobState::Done, "of " + begun->request);
    }
    return requests;
  }

  double now_ = 1'000'000;
  Result<TemporaryDirectory> place_ = TemporaryDirectory::make("passnet-test-");
  std::unique_ptr<JobQueue> queue_;
};

TEST_F(Jobs, AreTakenInOrderAndKeepTheirResults) {
  open();
  const std::string first = add("a", "1"), second = add("a", "2");
  EXPECT_EQ(queue_->state_of(first), JobState::Queued);
  const auto begun = queue_->take({});
  EXPECT_EQ(begun->request, "1");
  EXPECT_EQ(queue_->state_of(first), JobState::Running);
  queue_->end(*begun->job, JobState::Done, "good");
  EXPECT_EQ(queue_->state_of(first), JobState::Done);
  EXPECT_EQ(*queue_->result_of(first), "good");
  EXPECT_THAT(drain(), ElementsAre("2"));
  EXPECT_EQ(queue_->state_of("none"), std::nullopt);
}

TEST_F(Jobs, OfClientsTakeTurns) {
  open();
  for (int i = 0; i < 4; ++i) add("many", "m" + std::to_string(i));
  add("few", "f0");
  add("few", "f1");
  add("one", "o0");
  EXPECT_THAT(drain(), ElementsAre("m0", "f0", "o0", "m1", "f1", "m2", "m3"));
}

TEST_F(Jobs, SurviveTheEndOfTheProcess) {
  open();
  const std::string done = add("a", "1"), ran = add("a", "2"), waits = add("b", "3");
  const std::string settled = queue_->add("a", {{{}, "known"}})->front();
  const std::string passing = queue_->add("a", {{"4", {}}}, true)->front();
  queue_->end(*queue_->take({})->job, JobState::Done, "good");
  queue_->end(*queue_->take({})->job, JobState::Failed, "bad");
  ASSERT_TRUE(queue_->take({}));
  open();
  EXPECT_EQ(queue_->state_of(done), JobState::Done);
  EXPECT_EQ(*queue_->result_of(done), "good");
  EXPECT_EQ(*queue_->result_of(settled), "known");
  EXPECT_EQ(queue_->state_of(waits), JobState::Failed);
  EXPECT_EQ(queue_->state_of(ran), JobState::Queued);
  EXPECT_EQ(queue_->state_of(passing), std::nullopt);
  const std::string later = add("a", "5");
  EXPECT_GT(later, waits);
  EXPECT_THAT(drain(), ElementsAre("2", "5"));
}

TEST_F(Jobs, OfADirectoryHaveOneProcess) {
  open();
  const auto second = JobQueue::open(place_->path());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().kind, Error::Kind::Resource);
}

TEST_F(Jobs, AreCancelledWhereverTheyAre) {
  open();
  const std::string runs = add("a", "1"), waits = add("a", "2");
  const auto begun = queue_->take({});
  EXPECT_TRUE(queue_->cancel(waits));
  EXPECT_EQ(queue_->state_of(waits), JobState::Cancelled);
  EXPECT_TRUE(queue_->cancel(runs));
  EXPECT_TRUE(begun->job->is_cancelled);
  queue_->end(*begun->job, JobState::Done, "good");
  EXPECT_EQ(queue_->state_of(runs), JobState::Cancelled);
  EXPECT_FALSE(queue_->cancel("none"));
  EXPECT_EQ(queue_->counts().cancelled, 2u);
  EXPECT_EQ(queue_->counts().queued, 0u);
  open();
  EXPECT_EQ(queue_->state_of(runs), std::nullopt);
}

TEST_F(Jobs, ThatAreGivenBackComeFirst) {
  open();
  add("a", "1");
  add("a", "2");
  const auto begun = queue_->take({});
  queue_->give_back(begun->job);
  EXPECT_THAT(drain(), ElementsAre("1", "2"));
}

TEST_F(Jobs, AreLimitedInNumberAndSize) {
  JobLimits limits;
  limits.waiting = 3;
  limits.waiting_per_client = 2;
  limits.bytes = 12;
  limits.bytes_per_client = 10;
  open(limits);
  EXPECT_EQ(refusal("a", {{"1", {}}, {"2", {}}, {"3", {}}}),
            "jobs of this client that wait: found 0 and 3 more, expected at most 2: ask again later");
  EXPECT_EQ(refusal("a", {{"12345678901", {}}}),
            "bytes of this client that wait: found 0 and 11 more, expected at most 10: ask again later");
  EXPECT_EQ(refusal("a", {{"1234567", {}}, {"8", {}}}), "");
  EXPECT_EQ(refusal("b", {{"12345", {}}}), "bytes that wait: found 8 and 5 more, expected at most 12: ask again later");
  EXPECT_EQ(refusal("b", {{"1", {}}}), "");
  EXPECT_EQ(refusal("c", {{"1", {}}}), "jobs that wait: found 3 and 1 more, expected at most 3: ask again later");
  EXPECT_EQ(queue_->counts().refused, 4u);
  EXPECT_EQ(queue_->counts().bytes, 9u);
  EXPECT_EQ(drain().size(), 3u);
  EXPECT_EQ(queue_->counts().bytes, 0u);
}

TEST_F(Jobs, AreLimitedInTheirRate) {
  JobLimits limits;
  limits.burst = 2;
  limits.per_second = 0.5;
  open(limits);
  EXPECT_EQ(refusal("a", {{"1", {}}, {"2", {}}}), "");
  EXPECT_EQ(refusal("a", {{"3", {}}}),
            "jobs of this client: found 1 at once, expected at most 0 now, 0 more each second: ask again later");
  EXPECT_EQ(refusal("b", {{"4", {}}}), "");
  now_ += 2;
  EXPECT_EQ(refusal("a", {{"5", {}}}), "");
}

TEST_F(Jobs, AreLimitedInAge) {
  JobLimits limits;
  limits.longest_wait_s = 100;
  limits.kept_s = 50;
  open(limits);
  const std::string old = add("a", "1");
  now_ += 101;
  const std::string fresh = add("a", "2");
  EXPECT_EQ(queue_->state_of(old), JobState::Failed);
  EXPECT_EQ(*queue_->result_of(old), R"({"error":"the job waited 101 s, expected at most 100"})");
  EXPECT_THAT(drain(), ElementsAre("2"));
  now_ += 51;
  add("b", "3");
  EXPECT_EQ(queue_->state_of(old), std::nullopt);
  EXPECT_EQ(queue_->state_of(fresh), std::nullopt);
  EXPECT_THAT(drain(), ElementsAre("3"));
}

TEST_F(Jobs, LeaveFilesOfOthersAlone) {
  ASSERT_TRUE(write_file(place_->path() / "notes.job", std::string_view("mine")));
  open();
  EXPECT_EQ(queue_->counts().queued, 0u);
  EXPECT_TRUE(entry_exists(place_->path() / "notes.job"));
}

TEST_F(Jobs, WhoseFileIsNoneAreRefusedByName) {
  ASSERT_TRUE(write_file(place_->path() / (std::string(32, '0') + ".job"), std::string_view("{")));
  const auto opened = JobQueue::open(place_->path());
  ASSERT_FALSE(opened.has_value());
  EXPECT_THAT(opened.error().at->file, testing::EndsWith("00000.job"));
}

}  // namespace
}  // namespace passnet::agent
