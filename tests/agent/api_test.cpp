// Requests and answers of both APIs, and streams that are cut anywhere.
#include "agent/chat/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "agent/chat/sse.h"

namespace passnet::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A talk with two calls in one answer, one of which could not be made.
Conversation talk() {
  Message answer{Role::Assistant, ""};
  answer.reasoning = "hm";
  answer.signature = "sig";
  answer.calls = {{"a", "graph_info", "{}"}, {"b", "file_editor", "{}", "no JSON"}};
  Message first{Role::Tool, "graph g"}, second{Role::Tool, "no JSON"};
  first.call_id = "a", first.tool = "graph_info";
  second.call_id = "b", second.tool = "file_editor", second.is_error = true;
  return {{Role::System, "be brief"}, {Role::User, "task"}, answer, first, second, {Role::User, "go on"}};
}

Request asked() {
  Request request;
  request.model = "m";
  request.temperature = 0.5;
  request.max_output_tokens = 99;
  request.tools = {{"submit", "Ends it.", R"({"type": "object"})"}};
  return request;
}

TEST(OpenAi, WritesARequest) {
  EXPECT_EQ(try_parse_json(kOpenAi.request(talk(), asked())), try_parse_json(R"({
    "model": "m",
    "messages": [
      {"role": "system", "content": "be brief"},
      {"role": "user", "content": "task"},
      {"role": "assistant", "content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "graph_info", "arguments": "{}"}},
        {"id": "b", "type": "function", "function": {"name": "file_editor", "arguments": "{}"}}]},
      {"role": "tool", "content": "graph g", "tool_call_id": "a"},
      {"role": "tool", "content": "no JSON", "tool_call_id": "b"},
      {"role": "user", "content": "go on"}],
    "tools": [{"type": "function", "function": {"name": "submit", "description": "Ends it.", "parameters": {"type": "object"}}}],
    "temperature": 0.5, "max_tokens": 99, "stream": true, "stream_options": {"include_usage": true}})"));
}

TEST(Anthropic, WritesARequest) {
  EXPECT_EQ(try_parse_json(kAnthropic.request(talk(), asked())), try_parse_json(R"({
    "model": "m", "max_tokens": 99,
    "system": [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}],
    "messages": [
      {"role": "user", "content": [{"type": "text", "text": "task"}]},
      {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "tool_use", "id": "a", "name": "graph_info", "input": {}},
        {"type": "tool_use", "id": "b", "name": "file_editor", "input": {}}]},
      {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "a", "content": "graph g"},
        {"type": "tool_result", "tool_use_id": "b", "content": "no JSON", "is_error": true},
        {"type": "text", "text": "go on", "cache_control": {"type": "ephemeral"}}]}],
    "tools": [{"name": "submit", "description": "Ends it.", "input_schema": {"type": "object"}}],
    "temperature": 0.5, "stream": true})"));
}

TEST(OpenAi, LeavesOutWhatIsTheServersOwn) {
  Request request;
  request.model = "m";
  request.stream = false;
  EXPECT_EQ(kOpenAi.request({{Role::User, "\xff"}}, request),
            "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"\xef\xbf\xbd\"}]}");
}

TEST(OpenAi, ReadsAWholeAnswer) {
  const auto answer = kOpenAi.answer(
      R"({"choices": [{"finish_reason": "tool_calls", "message": {"content": [{"type": "text", "text": "so"}],
    "reasoning_content": "because", "tool_calls": [{"function": {"name": "a", "arguments": {"x": 1}}}, {"id": "i", "function": {"name": "b", "arguments": "{}"}}]}}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 3}, "completion_tokens_details": {"reasoning_tokens": 2}}})");
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->message.text, "so");
  EXPECT_EQ(answer->message.reasoning, "because");
  EXPECT_THAT(answer->message.calls, ElementsAre(ToolCall{"", "a", "{\"x\":1}"}, ToolCall{"i", "b", "{}"}));
  EXPECT_EQ(answer->usage, (Usage{7, 3, 5, 2}));
  EXPECT_EQ(answer->finish, "tool_calls");
}

TEST(OpenAi, SaysWhatIsNoAnswer) {
  EXPECT_THAT(to_string(kOpenAi.answer("<html>nginx</html>").error()),
              HasSubstr("the server's answer: expected an object with 'choices', found: <html>nginx</html>"));
  EXPECT_EQ(kAnthropic.answer("[]").error().message,
            "the server's answer: expected an object with 'content', found: []");
  EXPECT_THAT(to_string(kOpenAi.answer(R"({"error": {"message": "no such model"}})").error()),
              HasSubstr("the server says: no such model"));
}

TEST(Anthropic, ReadsAWholeAnswer) {
  const auto answer = kAnthropic.answer(
      R"({"content": [{"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "text", "text": "so"},
    {"type": "tool_use", "id": "i", "name": "a", "input": {"x": 1}}], "stop_reason": "tool_use",
    "usage": {"input_tokens": 7, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2, "output_tokens": 5}})");
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->message.text, "so");
  EXPECT_EQ(answer->message.signature, "s");
  EXPECT_THAT(answer->message.calls, ElementsAre(ToolCall{"i", "a", "{\"x\":1}"}));
  EXPECT_EQ(answer->usage, (Usage{12, 3, 5, 0}));
}

// What a stream gives that comes in pieces of `size` bytes.
Result<Answer> read_stream(const Api& api, const std::string& text, size_t size) {
  EventReader events;
  const auto stream = api.stream();
  for (size_t at = 0; at < text.size(); at += size) {
    for (const std::string& event : events.add(std::string_view(text).substr(at, size)))
      PASSNET_TRY_VOID(stream->add(event));
  }
  return stream->finish();
}

const std::string kOpenAiStream =
    ": a comment\r\n\r\n"
    "data: {\"choices\": [{\"delta\": {\"role\": \"assistant\", \"content\": \"Hé\"}}]}\r\n\r\n"
    "data: {\"choices\": [{\"delta\": {\"content\": \"llo\"}}]}\n\n"
    "data: {\"choices\": [{\"delta\": {\"tool_calls\": [{\"index\": 0, \"id\": \"a\", \"function\": {\"name\": \"f\", "
    "\"arguments\": \"\"}}]}}]}\n\n"
    "data: {\"choices\": [{\"delta\": {\"tool_calls\": [{\"index\": 1, \"id\": \"b\", \"function\": {\"name\": \"g\", "
    "\"arguments\": \"{}\"}}]}}]}\n\n"
    "data: {\"choices\": [{\"delta\": {\"tool_calls\": [{\"index\": 0, \"function\": {\"arguments\": "
    "\"{\\\"x\\\"\"}}]}}]}\n\n"
    "data: {\"choices\": [{\"delta\": {\"tool_calls\": [{\"index\": 0, \"function\": {\"arguments\": \": 1}\"}}]}, "
    "\"finish_reason\": \"tool_calls\"}]}\n\n"
    "data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 4, \"completion_tokens\": 2}}\n\n"
    "data: [DONE]\n\n";

const std::string kAnthropicStream =
    "event: message_start\ndata: {\"type\": \"message_start\", \"message\": {\"usage\": {\"input_tokens\": 4, "
    "\"output_tokens\": 1}}}\n\n"
    "event: ping\ndata: {\"type\": \"ping\"}\n\n"
    "data: {\"type\": \"content_block_start\", \"index\": 0, \"content_block\": {\"type\": \"text\", \"text\": "
    "\"\"}}\n\n"
    "data: {\"type\": \"content_block_delta\", \"index\": 0, \"delta\": {\"type\": \"text_delta\", \"text\": "
    "\"Héllo\"}}\n\n"
    "data: {\"type\": \"content_block_start\", \"index\": 1, \"content_block\": {\"type\": \"tool_use\", \"id\": "
    "\"a\", \"name\": \"f\", \"input\": {}}}\n\n"
    "data: {\"type\": \"content_block_delta\", \"index\": 1, \"delta\": {\"type\": \"input_json_delta\", "
    "\"partial_json\": \"{\\\"x\\\"\"}}\n\n"
    "data: {\"type\": \"content_block_delta\", \"index\": 1, \"delta\": {\"type\": \"input_json_delta\", "
    "\"partial_json\": \": 1}\"}}\n\n"
    "data: {\"type\": \"content_block_start\", \"index\": 2, \"content_block\": {\"type\": \"tool_use\", \"id\": "
    "\"b\", \"name\": \"g\", \"input\": {}}}\n\n"
    "data: {\"type\": \"message_delta\", \"delta\": {\"stop_reason\": \"tool_use\"}, \"usage\": {\"output_tokens\": "
    "2}}\n\n"
    "data: {\"type\": \"message_stop\"}\n\n";

TEST(Streams, AreTheSameHoweverTheyAreCut) {
  const std::pair<const Api*, std::string> streams[] = {{&kOpenAi, kOpenAiStream}, {&kAnthropic, kAnthropicStream}};
  for (const auto& [api, text] : streams) {
    for (size_t size = 1; size <= text.size(); size = size < 40 ? size + 1 : size * 2) {
      const Result<Answer> answer = read_stream(*api, text, size);
      ASSERT_TRUE(answer) << api->name << " " << size << ": " << to_string(answer.error());
      EXPECT_EQ(answer->message.text, "Héllo");
      EXPECT_EQ(answer->usage, (Usage{4, 0, 2, 0}));
      ASSERT_EQ(answer->message.calls.size(), 2u);
      EXPECT_EQ(answer->message.calls[0], (ToolCall{"a", "f", "{\"x\": 1}"}));
      EXPECT_EQ(answer->message.calls[1], (ToolCall{"b", "g", "{}"}));
    }
  }
}

TEST(Streams, ThatEndEarlyAreAskedAgain) {
  for (const auto& [api, text] : {std::pair{&kOpenAi, kOpenAiStream}, std::pair{&kAnthropic, kAnthropicStream}}) {
    const Result<Answer> answer = read_stream(*api, text.substr(0, text.size() / 2), 10);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().failure, "cut-answer");
    EXPECT_EQ(answer.error().message, "the answer was cut: its stream ended before it said so");
    EXPECT_EQ(api->stream()->add("[1]").error().message, "the answer is garbled: expected an object, found: [1]");
  }
  EXPECT_EQ(kOpenAi.stream()->add("{nonsense").error().failure, "cut-answer");
  EXPECT_THAT(
      to_string(kAnthropic.stream()
                    ->add(R"({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})")
                    .error()),
      HasSubstr("the server says: Overloaded"));
}

TEST(Streams, WithoutIndexesHoldSeveralCalls) {
  const auto stream = kOpenAi.stream();
  for (const char* event :
       {R"({"choices": [{"delta": {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}}]})",
        R"({"choices": [{"delta": {"tool_calls": [{"id": "b", "function": {"name": "g", "arguments": "{"}}]}}]})",
        R"({"choices": [{"delta": {"tool_calls": [{"function": {"arguments": "}"}}]}, "finish_reason": "stop"}]})"})
    ASSERT_TRUE(stream->add(event));
  EXPECT_THAT(stream->finish()->message.calls, ElementsAre(ToolCall{"a", "f", "{}"}, ToolCall{"b", "g", "{}"}));
}

TEST(OpenAi, AsksAsTheServerWants) {
  Request request = asked();
  request.usage_in_stream = false;
  request.completion_tokens = request.empty_text_for_none = true;
  const Json json = try_parse_json(kOpenAi.request(talk(), request));
  EXPECT_FALSE(json.contains("stream_options") || json.contains("max_tokens"));
  EXPECT_EQ(json["max_completion_tokens"], 99);
  EXPECT_EQ(json["messages"][2]["content"], "");
}

TEST(OpenAi, ReadsTheCallOfOldServers) {
  const auto whole =
      kOpenAi.answer(R"({"choices": [{"message": {"function_call": {"name": "f", "arguments": "{}"}}}]})");
  EXPECT_THAT(whole->message.calls, ElementsAre(ToolCall{"", "f", "{}"}));
  const auto stream = kOpenAi.stream();
  for (const char* event :
       {R"({"choices": [{"delta": {"function_call": {"name": "f", "arguments": "{"}}}]})",
        R"({"choices": [{"delta": {"function_call": {"arguments": "}"}}, "finish_reason": "function_call"}]})"})
    ASSERT_TRUE(stream->add(event));
  EXPECT_THAT(stream->finish()->message.calls, ElementsAre(ToolCall{"", "f", "{}"}));
}

TEST(Streams, EndHoweverTheyLike) {
  const std::string last = R"(data: {"choices": [{"delta": {"content": "so \ud83d"}, "finish_reason": "stop"}]})";
  for (const std::string& text :
       {last, last + "\n\ndata: [DONE]", last + "\n\ndata: [DONE] \r\n", "\xef\xbb\xbf" + last + "\n\n",
        last + "\n\ndata: \n\n", ": kept open\n\nevent: message\nid: 3\n" + last}) {
    EventReader events;
    const auto stream = kOpenAi.stream();
    for (auto&& some : {events.add(text), events.finish()}) {
      for (const std::string& event : some) ASSERT_TRUE(stream->add(event)) << text;
    }
    const auto answer = stream->finish();
    ASSERT_TRUE(answer) << text;
    EXPECT_EQ(answer->message.text, "so \xef\xbf\xbd");
  }
}

TEST(Streams, TellOfErrors) {
  const auto failure = [](const char* event) {
    const Result<void> added = kOpenAi.stream()->add(event);
    return added ? "none" : added.error().failure;
  };
  EXPECT_EQ(failure(R"({"error": "out of memory"})"), "server-error");
  EXPECT_EQ(failure(R"({"error": {"message": "slow down", "code": 429}})"), "cut-answer");
  EXPECT_EQ(failure(R"({"error": {"message": "m", "type": "overloaded_error"}})"), "cut-answer");
  EXPECT_EQ(failure(R"({"object": "error", "message": "m", "code": 40303})"), "server-error");
  EXPECT_EQ(
      failure(R"({"choices": [{"delta": {}, "finish_reason": "error", "error": {"code": 502, "message": "m"}}]})"),
      "cut-answer");
  EXPECT_EQ(failure(R"({"error": {"message": "the request exceeds the available context size"}})"), "context");
  EXPECT_EQ(failure(R"({"message": "m", "code": 500})"), "cut-answer");
  EXPECT_EQ(failure(R"({"error": null, "choices": []})"), "none");
}

TEST(Streams, ThatAreAbortedAreAskedAgain) {
  const auto stream = kOpenAi.stream();
  ASSERT_TRUE(stream->add(R"({"choices": [{"delta": {"content": "so"}, "finish_reason": "error"}]})"));
  EXPECT_EQ(stream->finish().error().failure, "cut-answer");
}

TEST(Errors, OfContextAreKnownByTheWordsOfServers) {
  for (const char* said :
       {"This model's maximum context length is 4096 tokens.", R"({"type": "exceed_context_size_error"})",
        "prompt is too long: 3 tokens", "the request exceeds the available context size",
        "The input token count (9) exceeds the maximum number of tokens allowed",
        "Input is too long for requested model.", "`inputs` must have less than 4096 tokens",
        "ContextWindowExceededError", "input length and `max_tokens` exceed context limit",
        "Reached context length of 4096 tokens"})
    EXPECT_TRUE(tells_of_context(said)) << said;
  for (const char* said : {"", "no such model", "Rate limit reached for tokens per minute"})
    EXPECT_FALSE(tells_of_context(said)) << said;
}

TEST(Texts, AreValidAndCut) {
  EXPECT_EQ(clean_text("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(clean_text("abcdef", 3), "abc\n[cut: 3 of 6 bytes are shown]");
  EXPECT_EQ(estimate_tokens(std::string(401, 'x')), 101);
}

TEST(Messages, AreReadAsTheyWereWritten) {
  for (const Message& message : talk()) {
    const Result<Message> read = message_from_json(to_json(message));
    ASSERT_TRUE(read) << to_string(read.error());
    EXPECT_EQ(*read, message);
  }
  const Json older{
      {"role", "assistant"}, {"content", ""}, {"tool_calls", {{{"id", "a"}, {"name", "f"}, {"arguments", "{\"x"}}}}};
  EXPECT_EQ(message_from_json(older)->calls[0].arguments, "{}");
  EXPECT_EQ(message_from_json(Json{{"role", "judge"}, {"content", ""}}).error().message,
            "message: field 'role': expected system, user, assistant or tool, found 'judge'");
}

TEST(Urls, AreJoinedAsPeopleExpect) {
  EXPECT_EQ(join_url("http://host:8000/v1", kOpenAi), "http://host:8000/v1/chat/completions");
  EXPECT_EQ(join_url("http://host:8000/v1/", kOpenAi), "http://host:8000/v1/chat/completions");
  EXPECT_EQ(join_url("http://host/v1/chat/completions", kOpenAi), "http://host/v1/chat/completions");
  EXPECT_EQ(join_url("https://api.anthropic.com", kAnthropic), "https://api.anthropic.com/v1/messages");
  EXPECT_EQ(join_url("http://host/v1", kAnthropic), "http://host/v1/messages");
}

}  // namespace
}  // namespace passnet::agent
