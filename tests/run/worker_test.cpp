// Whatever a worker does, control gets an error that says so.
#include "run/worker/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "run/measure/measure.h"
#include "run/worker/requests.h"
#include "run/worker/spare_worker.h"
#include "tests/paths.h"

namespace passnet::run {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Worker start(const std::string& name, const std::atomic<bool>* interrupted = nullptr) {
  Worker worker(
      {(tests::binary_dir() / "tests/run/workers").string() + "/" + name, Role::Candidate, 1, interrupted, {}});
  const Result<void> started = worker.start();
  EXPECT_TRUE(started.has_value()) << (started ? "" : to_string(started.error()));
  return worker;
}

Error ask_hello(Worker& worker, std::chrono::milliseconds timeout = 5s) {
  const Result<Reply> reply = worker.ask({{"do", "hello"}}, {}, timeout);
  EXPECT_FALSE(reply.has_value());
  return reply ? Error{} : reply.error();
}

TEST(Device, IsTheCpuOrAGpuByNumber) {
  EXPECT_EQ(parse_device("cpu").value(), std::nullopt);
  EXPECT_EQ(parse_device("cuda").value(), 0);
  EXPECT_EQ(parse_device("cuda:3").value(), 3);
  for (const char* text : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1 ", "cuda:99999999999"}) {
    const auto parsed = parse_device(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(to_string(parsed.error()), "error: device '" + std::string(text) + "': expected cpu, cuda or cuda:N");
  }
}

TEST(Worker, CrashIsAFailureThatNamesTheSignal) {
  Worker worker = start("fake_crashes");
  const Error failure = ask_hello(worker);
  EXPECT_EQ(failure.failure, "crash");
  EXPECT_TRUE(failure.worker_lost);
  EXPECT_THAT(failure.message, HasSubstr("the candidate worker ended during 'hello': killed by SIGSEGV"));
  EXPECT_FALSE(worker.alive());
}

TEST(Worker, CrashDoesNotWaitForTheOtherWorker) {
  const Worker bystander = start("fake_hangs");
  Worker worker = start("fake_crashes");
  EXPECT_EQ(ask_hello(worker).failure, "crash");
  EXPECT_TRUE(bystander.alive());
}

TEST(Worker, EarlyExitIsAFailureThatNamesTheCode) {
  Worker worker = start("fake_exits_at_once");
  EXPECT_EQ(ask_hello(worker).message, "the candidate worker ended during 'hello': exit code 7");
}

TEST(Worker, HangIsKilledAtTheDeadline) {
  Worker worker = start("fake_hangs");
  const Error failure = ask_hello(worker, 300ms);
  EXPECT_EQ(failure.failure, "timeout");
  EXPECT_EQ(failure.message, "the candidate worker gave no answer to 'hello' within 0.3 s; it was killed");
  EXPECT_FALSE(worker.alive());
}

TEST(Worker, InterruptGivesUpARequestUnderWay) {
  std::atomic<bool> interrupted{true};
  Worker worker = start("fake_hangs", &interrupted);
  EXPECT_EQ(ask_hello(worker, 30s).failure, "interrupted");
}

TEST(Worker, NonsenseIsToldApartFromACrash) {
  for (const char* name : {"fake_no_json", "fake_no_ok", "fake_wrong_types", "fake_huge_frame"}) {
    Worker worker = start(name);
    const Error failure = ask_hello(worker);
    EXPECT_EQ(failure.failure, "nonsense") << name << ": " << failure.message;
    EXPECT_TRUE(failure.worker_lost) << name;
  }
}

TEST(Worker, RefusalKeepsTheWorkerAndItsWords) {
  Worker worker = start("fake_refuses");
  const Error failure = ask_hello(worker);
  EXPECT_EQ(failure.failure, "unsupported");
  EXPECT_EQ(to_string(failure), "model.py:3:9: error: no such operator\nhint: write it");
  EXPECT_FALSE(failure.worker_lost);
  EXPECT_TRUE(worker.alive());
}

TEST(Worker, RestartsAfterItWasLost) {
  Worker worker = start("fake_crashes");
  ask_hello(worker);
  EXPECT_EQ(ask_hello(worker).message, "the candidate worker is not running");
  ASSERT_TRUE(worker.start().has_value());
  EXPECT_TRUE(worker.alive());
}

TEST(Session, OutputsWithoutSharedMemoryAreNonsense) {
  Worker worker = start("fake_no_memory");
  const Result<Outputs> outputs = run_graph(worker, "g", true, 5s);
  ASSERT_FALSE(outputs.has_value());
  EXPECT_EQ(outputs.error().failure, "nonsense");
  EXPECT_THAT(outputs.error().message, HasSubstr("no shared memory came with them"));
}

TEST(Measure, TooFewTimesAreNonsense) {
  Worker reference = start("fake_no_memory");
  Worker candidate = start("fake_no_memory");
  const Result<Measured> measured = measure({reference, "g"}, {candidate, "g"}, {25, 100, 5s});
  ASSERT_FALSE(measured.has_value());
  EXPECT_EQ(measured.error().failure, "nonsense");
  EXPECT_THAT(measured.error().message, HasSubstr("1 times for 25 calls"));
}

TEST(SpareWorker, KeepsOthersFromBeingTimedUntilItHasComeUp) {
  SharedDevice device(2);
  DeviceSlot mine(device), other(device);
  std::atomic<bool> interrupted = false, timed = false;
  SpareWorker spare(&mine);
  WorkerOptions options{
      (tests::binary_dir() / "tests/run/workers").string() + "/fake_hangs", Role::Candidate, 1, &interrupted, {}};
  ASSERT_TRUE(spare.start(options));
  EXPECT_TRUE(spare.is_there());
  { const DeviceSlot::Use beside = mine.computing(); }  // its owner goes on
  std::thread timer([&] {
    const DeviceSlot::Use use = other.timing();
    timed = true;
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(timed);
  interrupted = true;
  timer.join();
  EXPECT_TRUE(timed);
  EXPECT_FALSE(spare.take().alive());
  EXPECT_FALSE(spare.is_there());
}

}  // namespace
}  // namespace passnet::run
