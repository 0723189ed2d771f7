// A client that cancels calls, asks meanwhile and wants to be told of progress.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "agent/mcp/session.h"

namespace passnet::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A session whose tool "hold" goes on until it is cancelled, or `released`.
class McpSessionTest : public testing::Test {
 protected:
  McpSessionTest() {
    offer_.tools.push_back(
        {"hold", "", "{}", [this](const Json&, const std::atomic<bool>* cancelled) -> Result<McpResult> {
           ++held_;
           held_.notify_all();
           while (!*cancelled && !released_) std::this_thread::yield();
           return McpResult{"held"};
         }});
    offer_.tools.push_back(
        {"now", "", "{}", [](const Json&, const std::atomic<bool>*) -> Result<McpResult> { return McpResult{"now"}; }});
  }
  void take(McpSession& session, const std::string& id, const std::string& method, const std::string& parameters) {
    session.take(R"({"jsonrpc": "2.0", )" + (id.empty() ? "" : "\"id\": " + id + ", ") + R"("method": ")" + method +
                 R"(", "params": )" + parameters + "}");
  }
  std::vector<std::string> ids() const {
    std::vector<std::string> all;
    for (const std::string& line : lines_) {
      if (const Json json = try_parse_json(line); json.contains("id")) all.push_back(json["id"].dump());
    }
    return all;
  }

  McpOffer offer_;
  std::vector<std::string> lines_;
  std::function<void(const std::string&)> write_ = [this](const std::string& line) { lines_.push_back(line); };
  std::atomic<int> held_ = 0;
  std::atomic<bool> released_ = false;
};

TEST_F(McpSessionTest, AnswersOthersWhileACallRunsAndNotWhatIsCancelled) {
  McpSession session(offer_, write_);
  take(session, "\"a\"", "tools/call", R"({"name": "hold"})");
  take(session, "2", "tools/call", R"({"name": "hold"})");
  take(session, "3", "tools/call", R"({"name": "now"})");
  held_.wait(0);
  take(session, "4", "ping", "{}");
  EXPECT_THAT(ids(), ElementsAre("4"));
  take(session, "", "notifications/cancelled", R"({"requestId": 2, "reason": "waits"})");
  take(session, "", "notifications/cancelled", R"({"requestId": "a"})");
  take(session, "", "notifications/cancelled", R"({"requestId": "unknown"})");
  session.finish();
  EXPECT_THAT(ids(), ElementsAre("4", "3"));
  EXPECT_EQ(held_, 1);
}

TEST_F(McpSessionTest, TellsOfProgressWhereItIsWanted) {
  McpSession session(
      offer_,
      [&](const std::string& line) {
        lines_.push_back(line);
        if (lines_.size() == 3) released_ = true;
      },
      std::chrono::milliseconds(1));
  take(session, "1", "tools/call", R"({"name": "hold", "_meta": {"progressToken": "p"}})");
  session.finish();
  ASSERT_GE(lines_.size(), 4u);
  double before = -1;
  for (size_t i = 0; i + 1 < lines_.size(); ++i) {
    const Json told = try_parse_json(lines_[i]);
    EXPECT_EQ(told["method"], "notifications/progress");
    EXPECT_EQ(told["params"]["progressToken"], "p");
    EXPECT_GT(told["params"]["progress"], before);
    before = told["params"]["progress"].get<double>();
  }
  EXPECT_THAT(lines_.back(), HasSubstr("\"id\":1"));
}

TEST_F(McpSessionTest, EndsWithCallsThatRun) {
  McpSession session(offer_, write_);
  take(session, "1", "tools/call", R"({"name": "hold"})");
  held_.wait(0);
}

}  // namespace
}  // namespace passnet::agent
