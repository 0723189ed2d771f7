// OpenAI's chat completions, as vLLM, SGLang, llama.cpp and hosted servers speak them.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "agent/chat/api.h"
#include "agent/chat/json_access.h"

namespace passnet::agent {

namespace {

Json call_json(const ToolCall& call) {
  return {{"id", call.id}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", call.arguments}}}};
}

// Reasoning is not sent back: servers of this API refuse it or count it twice.
Json message_json(const Message& message) {
  Json json{{"role", to_string(message.role)}, {"content", message.text}};
  if (message.role == Role::Tool) json["tool_call_id"] = message.call_id;
  if (message.calls.empty()) return json;
  if (message.text.empty()) json["content"] = nullptr;
  json["tool_calls"] = Json::array();
  for (const ToolCall& call : message.calls) json["tool_calls"].push_back(call_json(call));
  return json;
}

std::string request_body(const Conversation& conversation, const Request& request) {
  Json json{{"model", request.model}, {"messages", Json::array()}};
  for (const Message& message : conversation) json["messages"].push_back(message_json(message));
  for (const ToolSpec& tool : request.tools) {
    const Json function{
        {"name", tool.name}, {"description", tool.description}, {"parameters", try_parse_json(tool.schema)}};
    json["tools"].push_back({{"type", "function"}, {"function", function}});
  }
  if (request.temperature >= 0) json["temperature"] = request.temperature;
  if (request.max_output_tokens > 0) json["max_tokens"] = request.max_output_tokens;
  if (request.stream) {
    json["stream"] = true;
    json["stream_options"] = {{"include_usage", true}};
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

// A string, or a list of parts.
std::string content_of(const Json& message) {
  const Json& content = member(message, "content");
  std::string text = text_of(content);
  if (content.is_array()) {
    for (const Json& part : content) text += text_of(member(part, "text"));
  }
  return text;
}

// vLLM and DeepSeek say reasoning_content, OpenRouter and newer servers reasoning.
std::string reasoning_of(const Json& message) {
  const std::string text = text_of(member(message, "reasoning_content"));
  return text.empty() ? text_of(member(message, "reasoning")) : text;
}

// Some servers give arguments as an object instead of its text.
std::string arguments_of(const Json& function) {
  const Json& arguments = member(function, "arguments");
  if (arguments.is_null()) return "";
  return arguments.is_string() ? arguments.get<std::string>() : compact(arguments);
}

Error server_error(const Json& json) {
  return resource_error(fmt::format("the server says: {}", error_of_body(compact(json)))).with_failure("server-error");
}

Message cleaned(Message message) {
  message.role = Role::Assistant;
  message.text = clean_text(message.text);
  message.reasoning = clean_text(message.reasoning);
  for (size_t i = 0; i < message.calls.size(); ++i) {
    ToolCall& call = message.calls[i];
    call.name = clean_text(call.name, 200);
    call.arguments = clean_text(call.arguments, 2 * kMaxTextBytes);
    // Answers of tools are matched by these.
    if (call.id.empty()) call.id = fmt::format("call_{}", i + 1);
  }
  return message;
}

Result<Answer> read_answer(std::string_view body) {
  const Json json = try_parse_json(body);
  if (member(json, "error").is_object()) return server_error(json);
  const Json& choices = member(json, "choices");
  if (!choices.is_array() || choices.empty())
    return bad_input(
               fmt::format("the server's answer: expected an object with 'choices', found: {}", error_of_body(body)))
        .with_hint("--base-url is where /chat/completions is, for example http://localhost:8000/v1");
  const Json& said = member(choices[0], "message");
  Answer answer;
  answer.message.text = content_of(said);
  answer.message.reasoning = reasoning_of(said);
  for (const Json& call : member(said, "tool_calls")) {
    const Json& function = member(call, "function");
    answer.message.calls.push_back(
        {text_of(member(call, "id")), text_of(member(function, "name")), arguments_of(function)});
  }
  answer.message = cleaned(std::move(answer.message));
  answer.finish = text_of(member(choices[0], "finish_reason"));
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
    if (event == "[DONE]") {
      done_ = true;
      return {};
    }
    const Json json = try_parse_json(event);
    if (!json.is_object())
      return resource_error(fmt::format("the answer is garbled: expected an object, found: {}", error_of_body(event)))
          .with_failure("cut-answer");
    if (member(json, "error").is_object()) return server_error(json);
    if (member(json, "usage").is_object()) answer_.usage = usage_of(json["usage"]);
    const Json& choices = member(json, "choices");
    if (choices.is_array() && !choices.empty()) add_choice(choices[0]);
    return {};
  }

  Result<Answer> finish() override {
    if (!done_ && answer_.finish.empty())
      return resource_error("the answer was cut: its stream ended before it said so").with_failure("cut-answer");
    for (auto& [index, call] : calls_) answer_.message.calls.push_back(std::move(call));
    answer_.message = cleaned(std::move(answer_.message));
    return std::move(answer_);
  }

 private:
  void add_choice(const Json& choice) {
    const Json& delta = member(choice, "delta");
    append(answer_.message.text, content_of(delta));
    append(answer_.message.reasoning, reasoning_of(delta));
    for (const Json& piece : member(delta, "tool_calls")) {
      const Json& function = member(piece, "function");
      ToolCall& call = calls_[place_of(piece)];
      if (const std::string id = text_of(member(piece, "id")); !id.empty()) call.id = id;
      call.name += text_of(member(function, "name"));
      append(call.arguments, arguments_of(function));
    }
    if (const std::string why = text_of(member(choice, "finish_reason")); !why.empty()) answer_.finish = why;
  }

  // Servers that lack `index` send one call per piece, each with its id.
  int64_t place_of(const Json& piece) {
    const Json& index = member(piece, "index");
    if (index.is_number()) return index.get<int64_t>();
    const bool begins = !text_of(member(piece, "id")).empty() || calls_.empty();
    const int64_t last = calls_.empty() ? -1 : calls_.rbegin()->first;
    return begins ? last + 1 : last;
  }

  Answer answer_;
  std::map<int64_t, ToolCall> calls_;
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
