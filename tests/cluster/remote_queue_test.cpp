// A queue over HTTP, with real sockets: workers that have nothing but a URL.
#include "cluster/remote_queue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "base/hash.h"
#include "cluster/file_pieces.h"
#include "cluster/queue.h"
#include "cluster/queue_server.h"
#include "cluster/work.h"
#include "http/post.h"
#include "tests/scratch.h"

namespace passnet::cluster {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RemoteQueueTest : public testing::Test {
 protected:
  void make(int items, double lease_s = 60) {
    Queue queue = Queue::create(path_, {{"eval"}, lease_s, 2}).value();
    std::vector<QueueItem> list;
    for (int i = 0; i < items; ++i) list.push_back({fmt::format("item_{}", i), fmt::format("/list/item_{}", i)});
    ASSERT_EQ(queue.add(list).value(), list.size());
    queue_.emplace(std::move(queue));
  }
  void serve(int port = 0) {
    stop_ = false;
    const auto told = std::make_shared<std::promise<int>>();
    http::ServerOptions options;
    options.port = port;
    options.tokens = {{sha256_hex(kToken), "node"}};
    thread_ = std::thread([this, options, told] {
      EXPECT_TRUE(http::serve(
          options, queue_routes(*queue_), [told](int at) { told->set_value(at); }, stop_));
    });
    port_ = told->get_future().get();
  }
  void end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  ~RemoteQueueTest() override { end(); }

  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  Result<std::unique_ptr<RemoteQueue>> open(const std::string& worker, const std::string& token = kToken) {
    return RemoteQueue::open({url() + "/", token, worker, nullptr, [this](const std::string& why) {
                                const std::lock_guard lock(mutex_);
                                waited_ = why;
                              }});
  }
  std::string answer(const std::string& path, const std::string& body) const {
    const auto found =
        http::post({url() + path, {"Authorization: Bearer " + std::string(kToken)}, body}, {}, {}, nullptr);
    return found ? fmt::format("{} {}", found->status, found->body) : to_string(found.error());
  }
  static void silence(const fs::path& claim) {
    const timespec before[2] = {{::time(nullptr) - 3600, 0}, {::time(nullptr) - 3600, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, claim.c_str(), before, 0), 0);
  }
  static void write(const fs::path& file, const std::string& text) {
    ASSERT_TRUE(write_file(file, std::string_view(text)));
  }

  static constexpr const char* kToken = "a-token-of-some-length";
  const ScratchDirectory scratch_;
  const fs::path path_ = scratch_.path / "queue";
  std::optional<Queue> queue_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
  int port_ = 0;
  std::mutex mutex_;
  std::string waited_;
};

TEST_F(RemoteQueueTest, ResultsComeBackAsFiles) {
  make(1);
  serve();
  const auto remote = open("worker").value();
  EXPECT_EQ(remote->rules(), queue_->rules());
  const Claim claim = remote->next(false)->claim.value();
  EXPECT_EQ(claim.text, "/list/item_0");
  EXPECT_TRUE(remote->renew(claim));
  EXPECT_FALSE(remote->next(false)->ended) << "an item is claimed";
  const std::string large(2 * kPieceBytes + 5, 'x');
  write(remote->work_of(claim) / "log.txt", "said\n");
  write(remote->work_of(claim) / "out/sample/records.jsonl", large);
  write(remote->work_of(claim) / "out/empty", "");
  fs::create_directories(remote->work_of(claim) / "out/nothing");
  const Settled settled = remote->settle(claim, Outcome::Done).value();
  EXPECT_TRUE(settled.held && settled.published);
  EXPECT_FALSE(fs::exists(remote->work_of(claim)));
  const fs::path result = queue_->result_of("item_0");
  EXPECT_EQ(read_file(result / "log.txt", FileKind::Lines).value(), "said\n");
  EXPECT_EQ(read_file(result / "out/sample/records.jsonl", FileKind::Lines).value(), large);
  EXPECT_EQ(fs::file_size(result / "out/empty"), 0u);
  EXPECT_TRUE(fs::is_directory(result / "out/nothing"));
  EXPECT_TRUE(remote->next(false)->ended);
  EXPECT_FALSE(remote->next(true)->ended);
}

TEST_F(RemoteQueueTest, AFailedTryLeavesItsLogWithTheQueue) {
  make(1);
  serve();
  const auto remote = open("worker").value();
  const Claim first = remote->next(false)->claim.value();
  EXPECT_TRUE(remote->settle(first, Outcome::Again)->held);
  const Claim second = remote->next(false)->claim.value();
  EXPECT_EQ(second.number, 2);
  write(remote->work_of(second) / "log.txt", "broken\n");
  const Settled settled = remote->settle(second, Outcome::Failed).value();
  EXPECT_EQ(settled.work, path_ / "work/item_0~2@worker");
  EXPECT_EQ(read_file(settled.work + "/log.txt", FileKind::Lines).value(), "broken\n");
}

TEST_F(RemoteQueueTest, AWorkerThatLostItsLeaseGivesNothing) {
  make(1);
  serve();
  const auto slow = open("slow").value(), quick = open("quick").value();
  const Claim lost = slow->next(false)->claim.value();
  silence(path_ / "claimed/item_0~1@slow");
  const Claim taken = quick->next(false)->claim.value();
  EXPECT_EQ(taken.number, 2);
  EXPECT_FALSE(slow->renew(lost));
  write(slow->work_of(lost) / "log.txt", "late\n");
  const Settled settled = slow->settle(lost, Outcome::Done).value();
  EXPECT_FALSE(settled.held || settled.published);
  write(quick->work_of(taken) / "log.txt", "in time\n");
  EXPECT_TRUE(quick->settle(taken, Outcome::Done)->published);
  EXPECT_EQ(read_file(queue_->result_of("item_0") / "log.txt", FileKind::Lines).value(), "in time\n");
}

TEST_F(RemoteQueueTest, WorkersDoEachItemOnce) {
  make(40);
  serve();
  const fs::path program = scratch_.path / "program";
  write(program, "#!/bin/sh\nmkdir \"$4\"; echo done > \"$4/done\"\n");
  ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
  std::atomic<size_t> done = 0;
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 4; ++i) {
      workers.emplace_back([&, i] {
        const auto remote = open(fmt::format("worker{}", i)).value();
        done += work(*remote, {program, false, 0.1, nullptr}, {})->done;
      });
    }
  }
  EXPECT_EQ(done, 40u);
  EXPECT_EQ(queue_->results()->size(), 40u);
  EXPECT_EQ(queue_->status()->done, 40u);
}

TEST_F(RemoteQueueTest, AServerThatGoesAwayIsWaitedFor) {
  make(2);
  serve();
  const auto remote = open("worker").value();
  const Claim claim = remote->next(false)->claim.value();
  write(remote->work_of(claim) / "log.txt", "said\n");
  end();
  EXPECT_TRUE(remote->renew(claim)) << "nobody says that it is lost";
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    serve(port_);
  });
  EXPECT_TRUE(remote->settle(claim, Outcome::Done)->published);
  later.join();
  EXPECT_THAT(waited_, HasSubstr(url()));
  EXPECT_TRUE(remote->next(false)->claim);
}

TEST_F(RemoteQueueTest, ItsHeartbeatsBeginAnewWithTheServer) {
  make(1);
  const Claim claim = Queue::open(path_, "worker")->claim().value().value();
  silence(claim.file);
  EXPECT_TRUE(queue_->renew_all());
  EXPECT_EQ(queue_->expire().value(), 0u);
}

TEST_F(RemoteQueueTest, AWrongTokenIsRefused) {
  make(1);
  serve();
  const auto refused = open("worker", "another-token-of-a-length");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("/queue/rules: status 401: 'no known token, expected"));
  EXPECT_EQ(refused.error().hint, "give --token-file with a token that the server knows");
  EXPECT_THAT(RemoteQueue::open({"ftp://node", "", "worker", nullptr, {}}).error().message,
              HasSubstr("expected http://"));
}

TEST_F(RemoteQueueTest, RequestsOfAnotherFormAreRefused) {
  make(1);
  serve();
  EXPECT_EQ(answer("/queue/next", R"({"worker": "../x", "forever": false})"),
            "400 {\"error\":\"'../x' is no name of a worker\"}\n");
  EXPECT_EQ(answer("/queue/renew", R"({"claim": "a~1@../x"})"),
            "400 {\"error\":\"'a~1@../x' is no name of a claim\"}\n");
  EXPECT_EQ(answer("/queue/settle", R"({"claim": "a~1@w", "outcome": 4})"),
            "400 {\"error\":\"found outcome 4, expected 0 to 3\"}\n");
  EXPECT_EQ(answer("/queue/renew", R"({"claim": "a~1@w"})"), "200 {\"held\":false}\n");
  ASSERT_TRUE(open("w").value()->next(false)->claim);
  EXPECT_THAT(answer("/queue/files", "{\"claim\":\"item_0~1@w\"}\n{\"path\":\"../x\",\"offset\":0,\"bytes\":1}\ny"),
              HasSubstr("found '../x' with 1 bytes of 1, expected a file below the directory of a worker"));
  EXPECT_FALSE(fs::exists(path_ / "work/x"));
}

TEST(FilePieces, ALinkIsNoResult) {
  const ScratchDirectory scratch;
  fs::create_symlink("/etc/passwd", scratch.path / "link");
  EXPECT_EQ(
      send_files(scratch.path, [](const std::string&) { return Result<void>(); }).error().message,
      fmt::format("'{}/link' is neither a file nor a directory, expected results as files", scratch.path.string()));
}

}  // namespace
}  // namespace passnet::cluster
