// OpenAI's chat completions, as vLLM, SGLang, llama.cpp and hosted servers speak them.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agent/chat/api.h"
#include "agent/chat/calls.h"
#include "agent/chat/json_access.h"
#include "base/text/strings.h"

namespace passnet::agent {

namespace {

Json call_json(const ToolCall& call) {
  return {{"id", call.id}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", call.arguments}}}};
}

// Reasoning is not sent back: servers of this API refuse it or count it twice.
Json message_json(const Message& message, bool empty_text_for_none) {
  Json json{{"role", to_string(message.role)}, {"content", message.text}};
  if (message.role == Role::Tool) json["tool_call_id"] = message.call_id;
  if (message.calls.empty()) return json;
  if (message.text.empty() && !empty_text_for_none) json["content"] = nullptr;
  json["tool_calls"] = Json::array();
  for (const ToolCall& call : message.calls) json["tool_calls"].push_back(call_json(call));
  return json;
}

std::string request_body(const Conversation& conversation, const Request& request) {
  Json json{{"model", request.model}, {"messages", Json::array()}};
  for (const Message& message : conversation)
    json["messages"].push_back(message_json(message, request.empty_text_for_none));
  for (const ToolSpec& tool : request.tools) {
    const Json function{
        {"name", tool.name}, {"description", tool.description}, {"parameters", try_parse_json(tool.schema)}};
    json["tools"].push_back({{"type", "function"}, {"function", function}});
  }
  if (request.temperature >= 0) json["temperature"] = request.temperature;
  if (request.max_output_tokens > 0)
    json[request.completion_tokens ? "max_completion_tokens" : "max_tokens"] = request.max_output_tokens;
  if (request.stream) {
    json["stream"] = true;
    if (request.usage_in_stream) json["stream_options"] = {{"include_usage", true}};
  }
  return compact(json);
}

Usage usage_of(const Json& json) {
  Usage usage;
  usage.input = count_of(member(json, "prompt_tokens"));
  usage.output = count_of(member(json, "completion_tokens"));
  usage.cached = count_of(member(member(json, "prompt_tokens_details"), "cached_tokens"));
  usage.reasoning = count_of(member(member(json, "completion_tokens_details"), "reasoning_tokens"));
  return usage;
}

// A string, or a list of parts; or why the model would not answer.
std::string content_of(const Json& message) {
  const Json& content = member(message, "content");
  std::string text = text_of(content);
  if (content.is_array()) {
    for (const Json& part : content) text += text_of(member(part, "text"));
  }
  return text.empty() ? text_of(member(message, "refusal")) : text;
}

// Before there were tool_calls, an answer had one call at most, without an id.
Json calls_of(const Json& message) {
  const Json &calls = member(message, "tool_calls"), &call = member(message, "function_call");
  return call.is_object() && calls.empty() ? Json::array({{{"function", call}}}) : calls;
}

// vLLM and DeepSeek say reasoning_content, OpenRouter and newer servers reasoning.
std::string reasoning_of(const Json& message) {
  const std::string text = text_of(member(message, "reasoning_content"));
  return text.empty() ? text_of(member(message, "reasoning")) : text;
}

Message cleaned(Message message) {
  message.role = Role::Assistant;
  message.text = clean_text(message.text);
  message.reasoning = clean_text(message.reasoning);
  return message;
}

Result<Answer> read_answer(std::string_view body) {
  const Json json = read_json(body);
  if (is_error(json)) return server_error(json);
  const Json& choices = member(json, "choices");
  if (!choices.is_array() || choices.empty())
    return bad_input(
               fmt::format("the server's answer: expected an object with 'choices', found: {}", error_of_body(body)))
        .with_hint("--base-url is where /chat/completions is, for example http://localhost:8000/v1");
  const Json& said = member(choices[0], "message");
  Answer answer;
  answer.message.text = content_of(said);
  answer.message.reasoning = reasoning_of(said);
  answer.finish = text_of(member(choices[0], "finish_reason"));
  CallPieces calls;
  calls.add_event(calls_of(said));
  answer.message.calls = calls.finish(is_cut(answer.finish));
  answer.message = cleaned(std::move(answer.message));
  answer.usage = usage_of(member(json, "usage"));
  return answer;
}

void append(std::string& text, std::string_view more) {
  // A little more than is kept, so that clean_text tells of the cut.
  if (text.size() <= 2 * kMaxTextBytes) text += more;
}

class Stream final : public AnswerStream {
 public:
  Result<void> add(std::string_view event) override {
    if (trim(event).empty()) return {};
    if (trim(event) == "[DONE]") {
      done_ = true;
      return {};
    }
    PASSNET_TRY(const Json json, read_event(event));
    if (member(json, "usage").is_object()) answer_.usage = usage_of(json["usage"]);
    const Json& choices = member(json, "choices");
    if (choices.is_array() && !choices.empty()) add_choice(choices[0]);
    return {};
  }

  Result<Answer> finish() override {
    const bool is_broken = answer_.finish == "error" || answer_.finish == "abort";
    if (is_broken || (!done_ && answer_.finish.empty())) return stream_ended();
    answer_.message.calls = calls_.finish(is_cut(answer_.finish));
    answer_.message = cleaned(std::move(answer_.message));
    return std::move(answer_);
  }

 private:
  void add_choice(const Json& choice) {
    const bool is_whole = !member(choice, "delta").is_object();
    if (is_whole && !answer_.message.text.empty()) return take_finish(choice);
    const Json& delta = member(choice, is_whole ? "message" : "delta");
    append(answer_.message.text, content_of(delta));
    append(answer_.message.reasoning, reasoning_of(delta));
    calls_.add_event(calls_of(delta));
    take_finish(choice);
  }

  void take_finish(const Json& choice) {
    if (const std::string why = text_of(member(choice, "finish_reason")); !why.empty()) answer_.finish = why;
  }

  Answer answer_;
  CallPieces calls_;
  bool done_ = false;
};

}  // namespace

const Api kOpenAi{"openai",
                  "/chat/completions",
                  "OPENAI_API_KEY",
                  false,
                  request_body,
                  read_answer,
                  []() -> std::unique_ptr<AnswerStream> { return std::make_unique<Stream>(); }};

}  // namespace passnet::agent
