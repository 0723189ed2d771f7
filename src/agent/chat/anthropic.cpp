// Anthropic's messages.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "agent/chat/api.h"
#include "agent/chat/calls.h"
#include "agent/chat/json_access.h"
#include "base/text/strings.h"

namespace passnet::agent {

namespace {

constexpr int64_t kOutputTokens = 8192;

Json cached() { return {{"type", "ephemeral"}}; }

Json blocks_of(const Message& message) {
  Json blocks = Json::array();
  if (message.role == Role::Tool) {
    blocks.push_back({{"type", "tool_result"}, {"tool_use_id", message.call_id}, {"content", message.text}});
    if (message.is_error) blocks.back()["is_error"] = true;
    return blocks;
  }
  // Thoughts go back only with the signature that the API gave them.
  if (!message.signature.empty())
    blocks.push_back({{"type", "thinking"}, {"thinking", message.reasoning}, {"signature", message.signature}});
  // An empty text is refused.
  if (!message.text.empty()) blocks.push_back({{"type", "text"}, {"text", message.text}});
  for (const ToolCall& call : message.calls)
    blocks.push_back(
        {{"type", "tool_use"}, {"id", call.id}, {"name", call.name}, {"input", try_parse_json(call.arguments)}});
  if (blocks.empty()) blocks.push_back({{"type", "text"}, {"text", "(nothing)"}});
  return blocks;
}

// Roles alternate: what tools gave is one message of the user, and so is what a user says after it.
Json messages_of(const Conversation& conversation) {
  Json messages = Json::array();
  for (const Message& message : conversation) {
    if (message.role == Role::System) continue;
    const char* const role = message.role == Role::Assistant ? "assistant" : "user";
    if (messages.empty() || messages.back()["role"] != role)
      messages.push_back({{"role", role}, {"content", Json::array()}});
    for (Json& block : blocks_of(message)) messages.back()["content"].push_back(std::move(block));
  }
  // Everything up to here is the beginning of the next request.
  if (!messages.empty()) messages.back()["content"].back()["cache_control"] = cached();
  return messages;
}

std::string request_body(const Conversation& conversation, const Request& request) {
  Json json{{"model", request.model},
            {"max_tokens", request.max_output_tokens > 0 ? request.max_output_tokens : kOutputTokens}};
  for (const Message& message : conversation) {
    if (message.role == Role::System) json["system"].push_back({{"type", "text"}, {"text", message.text}});
  }
  if (json.contains("system")) json["system"].back()["cache_control"] = cached();
  json["messages"] = messages_of(conversation);
  for (const ToolSpec& tool : request.tools) {
    json["tools"].push_back(
        {{"name", tool.name}, {"description", tool.description}, {"input_schema", try_parse_json(tool.schema)}});
  }
  if (request.temperature >= 0) json["temperature"] = request.temperature;
  if (request.stream) json["stream"] = true;
  return compact(json);
}

// This API counts cached tokens beside the others.
void take_usage(const Json& json, Usage& usage) {
  if (member(json, "input_tokens").is_number()) {
    usage.cached = count_of(member(json, "cache_read_input_tokens"));
    usage.input = count_of(json["input_tokens"]) + usage.cached + count_of(member(json, "cache_creation_input_tokens"));
  }
  if (member(json, "output_tokens").is_number()) usage.output = count_of(json["output_tokens"]);
}

// An answer while its blocks come in.
struct Blocks {
  struct Block {
    std::string type, text, signature, id, name, arguments;
  };
  std::vector<Block> all;
  Answer answer;

  Answer finish() {
    Message& message = answer.message;
    message.role = Role::Assistant;
    for (Block& block : all) {
      if (block.type == "text") message.text += block.text;
      if (block.type == "thinking") {
        message.reasoning += block.text;
        message.signature = block.signature;
      }
      if (block.type != "tool_use") continue;
      const bool cut = is_cut(answer.finish) && &block == &all.back();
      message.calls.push_back(read_call(block.id, block.name, block.arguments.substr(0, kMostArguments), cut));
    }
    // Thoughts that were cut have another signature than the API knows.
    if (message.reasoning.size() > kMaxTextBytes) message.signature.clear();
    message.text = clean_text(message.text);
    message.reasoning = clean_text(message.reasoning);
    return std::move(answer);
  }
};

Blocks::Block begin_block(const Json& json) {
  Blocks::Block block;
  block.type = text_of(member(json, "type"));
  block.text = text_of(member(json, block.type == "thinking" ? "thinking" : "text"));
  block.signature = text_of(member(json, "signature"));
  block.id = text_of(member(json, "id"));
  block.name = text_of(member(json, "name"));
  const Json& input = member(json, "input");
  if (!input.empty()) block.arguments = plain_text(input);
  return block;
}

Result<Answer> read_answer(std::string_view body) {
  const Json json = read_json(body);
  if (is_error(json)) return server_error(json);
  const Json& content = member(json, "content");
  if (!content.is_array())
    return bad_input(
               fmt::format("the server's answer: expected an object with 'content', found: {}", error_of_body(body)))
        .with_hint("--base-url is where /v1/messages is, for example https://api.anthropic.com");
  Blocks blocks;
  for (const Json& block : content) blocks.all.push_back(begin_block(block));
  blocks.answer.finish = text_of(member(json, "stop_reason"));
  take_usage(member(json, "usage"), blocks.answer.usage);
  return blocks.finish();
}

class Stream final : public AnswerStream {
 public:
  Result<void> add(std::string_view event) override {
    if (trim(event).empty()) return {};
    PASSNET_TRY(const Json json, read_event(event));
    const std::string type = text_of(member(json, "type"));
    if (type == "message_start") take_usage(member(member(json, "message"), "usage"), blocks_.answer.usage);
    if (type == "content_block_start") blocks_.all.push_back(begin_block(member(json, "content_block")));
    if (type == "content_block_delta" && !blocks_.all.empty()) add_piece(member(json, "delta"), blocks_.all.back());
    if (type == "message_delta") {
      blocks_.answer.finish = text_of(member(member(json, "delta"), "stop_reason"));
      take_usage(member(json, "usage"), blocks_.answer.usage);
    }
    if (type == "message_stop") done_ = true;
    return {};
  }

  Result<Answer> finish() override {
    if (!done_ && blocks_.answer.finish.empty()) return stream_ended();
    return blocks_.finish();
  }

 private:
  static void add_piece(const Json& delta, Blocks::Block& block) {
    block.text += text_of(member(delta, "text"));
    block.text += text_of(member(delta, "thinking"));
    block.signature += text_of(member(delta, "signature"));
    block.arguments += text_of(member(delta, "partial_json"));
  }

  Blocks blocks_;
  bool done_ = false;
};

}  // namespace

const Api kAnthropic{"anthropic",
                     "/v1/messages",
                     "ANTHROPIC_API_KEY",
                     true,
                     request_body,
                     read_answer,
                     []() -> std::unique_ptr<AnswerStream> { return std::make_unique<Stream>(); }};

}  // namespace passnet::agent
