#include "agent/training/export.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "agent/training/atif.h"

namespace passnet::agent {
namespace {

const std::vector<ToolSpec> kSubmitTool = {{"submit", "ends", R"({"type": "object"})"}};

Message call(const std::string& name, const std::string& arguments) {
  Message message{Role::Assistant, ""};
  message.calls = {{"1", name, arguments}};
  return message;
}
Message result(const std::string& text, bool is_error = false) {
  Message message{Role::Tool, text};
  message.call_id = "1";
  message.tool = "submit";
  message.is_error = is_error;
  return message;
}

TrainingAttempt attempt(const std::string& sample, double score, Conversation conversation = {}) {
  TrainingAttempt one;
  one.facts.sample = sample;
  one.facts.model = "m";
  one.facts.tools = "native";
  one.score = score;
  one.exit_reason = "agent";
  one.conversation = std::move(conversation);
  return one;
}

Conversation submitted_talk() {
  Conversation said = {{Role::System, "sys"},
                       {Role::User, "task"},
                       call("submit", R"({"a": 1})"),
                       result("done"),
                       {Role::Assistant, "end"}};
  said.back().reasoning = "hm";
  return said;
}

TEST(Export, WritesWhatHostedFineTuningReads) {
  EXPECT_EQ(
      training_line(attempt("s", 2, submitted_talk()), kSubmitTool, TrainingFormat::OpenAi),
      R"({"messages":[{"role":"system","content":"sys"},{"role":"user","content":"task"},)"
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"submit","arguments":"{\"a\": 1}"}}]},)"
      R"({"role":"tool","content":"done","tool_call_id":"1"},{"role":"assistant","content":"end"}],)"
      R"("tools":[{"type":"function","function":{"name":"submit","description":"ends","parameters":{"type":"object"}}}]})");
}

TEST(Export, WritesWhatChatTemplatesRead) {
  const Json messages =
      try_parse_json(training_line(attempt("s", 2, submitted_talk()), kSubmitTool, TrainingFormat::Trl))["messages"];
  EXPECT_EQ(messages[2]["content"], "");
  EXPECT_EQ(messages[2]["tool_calls"][0]["function"]["arguments"], Json({{"a", 1}}));
  EXPECT_EQ(messages[3]["name"], "submit");
  EXPECT_EQ(messages[4]["reasoning_content"], "hm");
  const Conversation odd = {{Role::User, "task"}, call("submit", "{no json"), result("what?", true)};
  EXPECT_EQ(try_parse_json(training_line(attempt("s", 2, odd), kSubmitTool,
                                         TrainingFormat::Trl))["messages"][1]["tool_calls"][0]["function"]["arguments"],
            Json({{"text", "{no json"}}));
}

TEST(Export, WritesTrajectoriesOfAtif) {
  TrainingAttempt one = attempt("s", 2);
  const Conversation said = submitted_talk();
  Step prompt, first, last;
  prompt.messages = {said[0], said[1]};
  first.messages = {said[2], said[3]};
  last.messages = {said[4]};
  first.spent.usage = {100, 40, 10, 0};
  first.spent.cost = 0.5;
  first.evaluations = {{"step_1_0", "hash", {}}};
  one.steps = {prompt, first, last};
  const Json line = try_parse_json(atif_line(one, kSubmitTool));
  EXPECT_EQ(line["schema_version"], "ATIF-v1.8");
  EXPECT_EQ(line["session_id"], "s/0");
  EXPECT_EQ(line["agent"]["model_name"], "m");
  EXPECT_EQ(line["agent"]["tool_definitions"][0]["function"]["name"], "submit");
  EXPECT_EQ(line["steps"][0].dump(), R"({"step_id":1,"source":"system","message":"sys"})");
  EXPECT_EQ(line["steps"][1].dump(), R"({"step_id":2,"source":"user","message":"task"})");
  EXPECT_EQ(
      line["steps"][2].dump(),
      R"({"step_id":3,"source":"agent","message":"","tool_calls":[{"tool_call_id":"1","function_name":"submit",)"
      R"("arguments":{"a":1}}],"metrics":{"prompt_tokens":100,"completion_tokens":10,"cached_tokens":40,)"
      R"("cost_usd":0.5},"llm_call_count":1,"extra":{"evaluations":[{"name":"step_1_0","score":1.0,"correct":0}]},)"
      R"("observation":{"results":[{"source_call_id":"1","content":"done"}]}})");
  EXPECT_EQ(line["steps"][3]["reasoning_content"], "hm");
  EXPECT_EQ(line["final_metrics"]["total_prompt_tokens"], 100);
  EXPECT_EQ(line["final_metrics"]["total_steps"], 4);
  EXPECT_EQ(line["final_metrics"]["extra"].dump(), R"({"score":2.0,"exit_reason":"agent"})");
}

TEST(Export, WritesTurnsOfShareGpt) {
  const Json line =
      try_parse_json(training_line(attempt("s", 2, submitted_talk()), kSubmitTool, TrainingFormat::ShareGpt));
  EXPECT_EQ(line["conversations"].dump(),
            R"([{"from":"system","value":"sys"},{"from":"human","value":"task"},)"
            R"({"from":"function_call","value":"{\"name\":\"submit\",\"arguments\":{\"a\":1}}"},)"
            R"({"from":"observation","value":"done"},{"from":"gpt","value":"end"}])");
  EXPECT_EQ(try_parse_json(line["tools"].get<std::string>())[0]["name"], "submit");
}

TEST(Export, TellsCallsInTextAsTheModelSawThem) {
  TrainingAttempt one = attempt("s", 2, submitted_talk());
  one.facts.tools = "text";
  one.conversation[2].text = "<tool_call>…</tool_call>";
  const Json line = try_parse_json(training_line(one, kSubmitTool, TrainingFormat::Trl));
  EXPECT_EQ(line["tools"], Json::array());
  EXPECT_EQ(line["messages"][2]["content"], "<tool_call>…</tool_call>");
  EXPECT_FALSE(line["messages"][2].contains("tool_calls"));
  EXPECT_EQ(line["messages"][3]["role"], "user");
}

TEST(Export, DropsTurnsThatFailed) {
  const Conversation with = {
      {Role::User, "task"}, call("x", ""), result("no tool", true), call("submit", "{}"), result("done")};
  EXPECT_EQ(without_failed_turns(with), (Conversation{with[0], with[3], with[4]}));
  EXPECT_EQ(without_failed_turns(submitted_talk()), submitted_talk());
}

TEST(Export, PairsWhatPartsAfterTheSamePrompt) {
  Conversation other = submitted_talk();
  other[2].calls[0].arguments = "{}";
  const auto line = preference_line(attempt("s", 2, submitted_talk()), attempt("s", 0.5, other), kSubmitTool);
  ASSERT_TRUE(line.has_value());
  const Json json = try_parse_json(*line);
  EXPECT_EQ(json["prompt"].size(), 2u);
  EXPECT_EQ(json["chosen"].size(), 3u);
  EXPECT_EQ(json["rejected"][0]["tool_calls"][0]["function"]["arguments"], Json::object());
  EXPECT_EQ(json["chosen_score"], 2);
  EXPECT_EQ(preference_line(attempt("s", 2, submitted_talk()), attempt("s", 1, submitted_talk()), kSubmitTool),
            std::nullopt);
}

TEST(Export, SelectsByScoreAndTask) {
  const std::vector<TrainingAttempt> attempts = {attempt("a", 1.5), attempt("a", 2), attempt("a", 2),
                                                 attempt("b", 0.3)};
  EXPECT_EQ(select_attempts(attempts, {1, false}), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(select_attempts(attempts, {1, true}), (std::vector<size_t>{1}));
  EXPECT_EQ(select_attempts(attempts, {0, true}), (std::vector<size_t>{1, 3}));
}

TEST(Export, TellsWhatAnAttemptWasWorth) {
  const Json line = try_parse_json(reward_line(attempt("s", 1.5), {{"a.py", "x\n"}}));
  EXPECT_EQ(line["reward"], 1.5);
  EXPECT_EQ(line["text"], "a.py\n```\nx\n```\n");
}

}  // namespace
}  // namespace passnet::agent
