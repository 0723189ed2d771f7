#include "run/measure/thread_times.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace passnet::run {
namespace {

using std::chrono::nanoseconds;

TEST(ThreadTimes, WaitingForAnotherProcessIsCounted) {
  const std::vector<ThreadTime> before{{1, 0, 1000, 100}, {2, 1, 1000, 0}};
  const std::vector<ThreadTime> after{{1, 0, 5000, 100}, {2, 1, 2000, 3000}};
  EXPECT_EQ(waited_for_others(before, after), nanoseconds(3000));
}

TEST(ThreadTimes, WaitingForAThreadOfOnesOwnIsNot) {
  const std::vector<ThreadTime> before{{1, 0, 0, 0}, {2, 0, 0, 0}};
  const std::vector<ThreadTime> after{{1, 0, 4000, 0}, {2, 0, 1000, 3900}};
  EXPECT_EQ(waited_for_others(before, after), nanoseconds(0));
  const std::vector<ThreadTime> elsewhere{{1, 1, 4000, 0}, {2, 0, 1000, 3900}};
  EXPECT_EQ(waited_for_others(before, elsewhere), nanoseconds(3900));
}

TEST(ThreadTimes, AThreadThatCameLaterCountsFromItsBeginning) {
  EXPECT_EQ(waited_for_others({}, {{7, 0, 10, 500}}), nanoseconds(500));
  EXPECT_EQ(waited_for_others({{7, 0, 10, 500}}, {}), nanoseconds(0));
}

TEST(ThreadTimes, WhatAllThreadsRanIsAdded) {
  EXPECT_EQ(ran_between({{1, 0, 1000, 0}, {2, 1, 5, 0}}, {{1, 0, 1500, 0}, {2, 1, 15, 0}, {3, 0, 7, 0}}),
            nanoseconds(517));
  EXPECT_EQ(ran_between({{1, 0, 1000, 0}}, {{1, 0, 1000, 900}}), nanoseconds(0));
  EXPECT_EQ(ran_between({{1, 0, 1000, 0}}, {}), nanoseconds(0));
}

TEST(ThreadTimes, TellWhoRunsAndWhoRests) {
  const auto times = read_thread_times({::getpid()});
  if (!times) GTEST_SKIP() << "this system keeps no figures of waiting threads";
  EXPECT_FALSE(times->front().rests());  // the thread that reads
  for (const char state : {'S', 'D', 'T'}) EXPECT_TRUE((ThreadTime{1, 0, 0, 0, state}.rests()));
}

TEST(ThreadTimes, OwnProcessIsRead) {
  const auto times = read_thread_times({::getpid()});
  if (!times) GTEST_SKIP() << "this system keeps no figures of waiting threads";
  ASSERT_FALSE(times->empty());
  EXPECT_GE(times->front().processor, 0);
  EXPECT_FALSE(read_thread_times({-1}));
  const auto first = read_first_thread_time(::getpid());
  ASSERT_TRUE(first && first->size() == 1);
  EXPECT_EQ(first->front().thread, ::getpid());
}

TEST(ThreadTimes, OfTheThreadThatAsksAreItsOwn) {
  if (!read_own_thread_time()) GTEST_SKIP() << "this system keeps no figures of waiting threads";
  pid_t thread = 0;
  std::optional<std::vector<ThreadTime>> own;
  std::thread([&] {
    thread = static_cast<pid_t>(::syscall(SYS_gettid));
    own = read_own_thread_time();
  }).join();
  ASSERT_TRUE(own && own->size() == 1);
  EXPECT_EQ(own->front().thread, thread);
}

TEST(ThreadTimes, AProcessIsStoppedOnceAllItsThreadsAre) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::thread([&] {
      (void)!::write(ready[1], "1", 1);
      while (true) ::pause();
    }).detach();
    while (true) ::pause();
  }
  char one = 0;
  ASSERT_EQ(::read(ready[0], &one, 1), 1);
  EXPECT_FALSE(is_stopped(child));
  ::kill(child, SIGSTOP);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  EXPECT_TRUE(WIFSTOPPED(status));
  EXPECT_TRUE(is_stopped(child));
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(is_stopped(child));  // nothing of it runs
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(ThreadTimes, PressureAndStolenTimeAreParsed) {
  EXPECT_EQ(parse_pressure("some avg10=55.33 avg60=60.75 avg300=58.76 total=380635577\nfull avg10=0.00 total=7\n"),
            380635577);
  EXPECT_EQ(parse_pressure(""), 0);
  EXPECT_EQ(parse_stolen_ticks("cpu  107323 13775 8885 30171 335 0 117 831 0 0\ncpu0 1 2\n"), 831);
  EXPECT_EQ(parse_stolen_ticks("intr 1 2 3"), 0);
  EXPECT_EQ(parse_stolen_ticks("cpu  1 2 3"), 0);
}

}  // namespace
}  // namespace passnet::run
