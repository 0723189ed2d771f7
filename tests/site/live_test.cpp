// Pages over a real socket, of a run that grows.
#include "site/live.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "base/file/file.h"
#include "page_records.h"
#include "tests/http/client.h"
#include "tests/scratch.h"

namespace passnet::site {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class LiveTest : public testing::Test {
 protected:
  void add(const std::string& sample) const {
    ASSERT_TRUE(write_file(run_ / sample / "records.jsonl",
                           std::string_view(record::to_lines({report::of_sample(
                               sample.c_str(), report::measured("b1_float32", 60, 24, -6, 1e-6))}))));
  }
  void serve() {
    site_ = LiveSite::make({run_.string()}, 1).value();
    server_ = std::thread([this] {
      EXPECT_TRUE(http::serve(
          {}, site_->routes(), [this](int port) { told_.set_value(port); }, stop_));
    });
    follower_ =
        std::thread([this] { site_->follow(stop_, [](const Error& error) { ADD_FAILURE() << to_string(error); }); });
    port_ = told_.get_future().get();
  }
  ~LiveTest() override {
    stop_ = true;
    if (server_.joinable()) server_.join();
    if (follower_.joinable()) follower_.join();
  }
  std::string get(const std::string& path) const {
    const http::Client client(port_);
    client.say("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    return client.hear_all();
  }

  const ScratchDirectory scratch_;
  const fs::path run_ = scratch_.path / "run";
  std::unique_ptr<LiveSite> site_;
  std::atomic<bool> stop_ = false;
  std::promise<int> told_;
  std::thread server_, follower_;
  int port_ = 0;
};

TEST_F(LiveTest, OpenPagesAreToldOfRecords) {
  add("gpt2_gelu");
  serve();
  const std::string index = get("/");
  EXPECT_THAT(index,
              testing::AllOf(HasSubstr("200 OK"), HasSubstr("text/html"), HasSubstr("data-events=\"events?since=")));
  EXPECT_THAT(get("/tasks/gpt2_gelu.html"), HasSubstr("data-events=\"../events?since="));
  EXPECT_THAT(get("/site.js"), HasSubstr("text/javascript"));
  EXPECT_THAT(get("/data/board.json"), HasSubstr("application/json"));
  const size_t at = index.find("events?since=");
  const http::Client page(port_);
  page.say("GET /" + index.substr(at, index.find('"', at) - at) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  add("llama_rotary");
  EXPECT_THAT(page.hear_until("\n\n"),
              testing::AllOf(HasSubstr("text/event-stream"), HasSubstr("event: records\ndata: {\"version\":"),
                             testing::EndsWith(",\"records\":2}\n\n")));
  EXPECT_THAT(get("/tasks.html"), HasSubstr("llama_rotary"));
}

TEST_F(LiveTest, ARunWithoutARecordIsShownOnceItHasOne) {
  fs::create_directories(run_);
  serve();
  EXPECT_EQ(site_->records(), 0u);
  EXPECT_THAT(get("/"), HasSubstr("200 OK"));
  add("gpt2_gelu");
  while (site_->records() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_THAT(get("/index.html"), HasSubstr("run"));
}

TEST_F(LiveTest, ARunThatIsNoDirectoryIsRefused) {
  const ScratchDirectory scratch;
  const std::string link = scratch.path / "link";
  fs::create_symlink("link", link);
  for (const std::string& path : {std::string(), link}) {
    const auto site = LiveSite::make({path}, 1);
    ASSERT_FALSE(site);
    EXPECT_EQ(to_string(site.error()), "error: '" + path + "' is no directory, expected a run or a directory of runs");
  }
}

TEST_F(LiveTest, NothingBesideThePagesIsServed) {
  add("gpt2_gelu");
  serve();
  for (const char* path : {"/../run/gpt2_gelu/records.jsonl", "//etc/passwd", "/entries/../../x", "/none.html"})
    EXPECT_THAT(get(path), testing::StartsWith("HTTP/1.1 404 ")) << path;
  const http::Client web(port_);
  web.say("GET / HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(web.hear_all(), testing::StartsWith("HTTP/1.1 403 "));
}

TEST_F(LiveTest, PagesStayWhereRecordsCannotBeRead) {
  add("gpt2_gelu");
  site_ = LiveSite::make({run_.string()}, 1).value();
  ASSERT_TRUE(write_file(run_ / "broken" / "records.jsonl", std::string_view("no record\n")));
  EXPECT_FALSE(site_->refresh());
  EXPECT_EQ(site_->records(), 1u);
  fs::remove_all(run_ / "broken");
  EXPECT_FALSE(site_->refresh().value()) << "nothing is new";
}

}  // namespace
}  // namespace passnet::site
