#include "protocol/messages.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace passnet::protocol {
namespace {

template <class Message>
std::string refused(const char* text) {
  const Result<Message> message = from_json<Message>(try_parse_json(text));
  return message ? "" : message.error().message;
}

TEST(Messages, HoldWhatIsNotTheDefault) {
  EXPECT_EQ(to_json(Hello{}).dump(), R"({"do":"hello"})");
  EXPECT_EQ(to_json(SetInputs{.id = "g", .restore = true}).dump(), R"({"do":"set_inputs","id":"g","restore":true})");
  EXPECT_EQ(to_json(protocol::Run{.id = "g", .checked = true}).dump(),
            R"({"do":"run","id":"g","checked":true,"share":"all","again":true})");
}

TEST(Messages, AreReadAsTheyWereWritten) {
  TimeOnSets::Reply reply;
  reply.times = {{1.5, 2}, 1, "graph", "", 1980, {}};
  reply.outputs = IndirectJson(Json::array());
  reply.rows_seed = 7;
  const Result<TimeOnSets::Reply> read = from_json<TimeOnSets::Reply>(to_json(reply));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->times.times_us, reply.times.times_us);
  EXPECT_EQ(read->times.mode, "graph");
  EXPECT_EQ(read->times.sm_mhz, 1980);
  EXPECT_EQ(read->times.temperature_c, std::nullopt);
  EXPECT_TRUE(read->outputs);
  EXPECT_EQ(read->rows_seed, 7u);
}

TEST(Messages, LackWhatHasADefault) {
  const Result<Time> time = from_json<Time>(try_parse_json(R"({"do": "time", "id": "g", "calls": 3})"));
  ASSERT_TRUE(time) << time.error().message;
  EXPECT_EQ(time->together, 1);
  EXPECT_EQ(time->clock, "host");
}

TEST(Messages, SayWhichFieldIsWrong) {
  EXPECT_EQ(refused<Time>(R"({"id": "g"})"), "time: field 'calls' is missing, expected an integer");
  EXPECT_EQ(refused<Time>(R"({"id": "g", "calls": 1e3})"),
            "time: field 'calls': expected an integer, found number '1000.0'");
  EXPECT_EQ(refused<protocol::Run::Reply>(R"({"layouts": [1]})"), "layout: expected an object, found number '1'");
  EXPECT_EQ(refused<CallChecks>(R"({"compared": 1, "outputs": [3], "inputs": {}})"),
            "reply: field 'outputs': expected an array of objects, found array '[3]'");
  EXPECT_EQ(refused<Refusal>(R"({"code": {"list": 0}})"), "code: field 'launch' is missing, expected an integer >= 0");
  EXPECT_EQ(refused<Exit>("7"), "exit: expected an object, found number '7'");
}

TEST(Messages, HoldNoCheckOfAnOutputThatIsNoWorse) {
  const Result<CallChecks> checks =
      from_json<CallChecks>(try_parse_json(R"({"compared": 2, "outputs": [null], "inputs": {}})"));
  ASSERT_TRUE(checks) << checks.error().message;
  EXPECT_EQ(checks->outputs.size(), 1u);
  EXPECT_FALSE(checks->outputs[0]);
}

}  // namespace
}  // namespace passnet::protocol
