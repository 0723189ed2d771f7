#include "agent/mcp/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "agent/chat/json_access.h"
#include "base/text/strings.h"

namespace passnet::agent {

namespace {

constexpr std::array<std::string_view, 3> kVersions = {kMcpVersion, "2025-03-26", "2024-11-05"};

// Of JSON-RPC, and the protocol's own.
constexpr int kNoJson = -32700, kNoRequest = -32600, kNoMethod = -32601, kWrongParameters = -32602, kOurFault = -32603,
              kNoResource = -32002;

// A list of messages is answered as a whole, and each of them may ask for a text that is much longer than the message.
constexpr size_t kMostMessages = 64;
constexpr size_t kMostListBytes = size_t{4} << 20;

struct Fault {
  int code = 0;
  std::string message;
};
using Answered = tl::expected<Json, Fault>;

tl::unexpected<Fault> fault(int code, std::string message) {
  return tl::make_unexpected(Fault{code, std::move(message)});
}

/// An object, nothing, or the text of an object, as clients send it that speak OpenAI's API too.
Answered object_in(const Json& json, const char* name) {
  const Json& found = member(json, name);
  const Json read = found.is_string() ? read_json(found.get<std::string>()) : found;
  if (read.is_object()) return read;
  if (read.is_null()) return Json::object();
  return fault(kWrongParameters, fmt::format("{}: expected an object, found {}", name, found.type_name()));
}

/// The one of that name, or uri. what: how a message calls it.
template <class T>
tl::expected<const T*, Fault> find(const std::vector<T>& all, std::string T::*key, const std::string& name,
                                   std::string_view what, int code) {
  const auto found = std::ranges::find(all, name, key);
  if (found != all.end()) return &*found;
  std::vector<std::string> names;
  for (const T& one : all) names.push_back(one.*key);
  return fault(code, fmt::format("no {} '{}', expected one of: {}", what, name, join(names, ", ")));
}

Json text_content(const std::string& text) { return {{"type", "text"}, {"text", valid_utf8(text)}}; }

Answered initialize(const McpOffer& offer, const Json& parameters) {
  const std::string asked = text_of(member(parameters, "protocolVersion"));
  const bool known = std::ranges::find(kVersions, asked) != kVersions.end();
  Json capabilities{{"tools", Json::object()}};
  if (!offer.resources.empty()) capabilities["resources"] = Json::object();
  if (!offer.prompts.empty()) capabilities["prompts"] = Json::object();
  return Json{{"protocolVersion", known ? asked : kMcpVersion},
              {"capabilities", std::move(capabilities)},
              {"serverInfo", {{"name", offer.name}, {"version", offer.version}}},
              {"instructions", offer.instructions}};
}

Answered list_tools(const McpOffer& offer) {
  Json tools = Json::array();
  for (const McpTool& tool : offer.tools)
    tools.push_back(
        {{"name", tool.name}, {"description", tool.description}, {"inputSchema", try_parse_json(tool.schema)}});
  return Json{{"tools", std::move(tools)}};
}

Answered call_tool(const McpOffer& offer, const Json& parameters, const std::atomic<bool>* cancelled) {
  const auto tool = find(offer.tools, &McpTool::name, text_of(member(parameters, "name")), "tool", kWrongParameters);
  if (!tool) return tl::make_unexpected(tool.error());
  const Answered arguments = object_in(parameters, "arguments");
  if (!arguments) return arguments;
  Result<McpResult> called = (*tool)->call(*arguments, cancelled);
  if (!called) called = McpResult{to_string(called.error()), true};
  Json result{{"content", Json::array({text_content(called->text)})}, {"isError", called->is_error}};
  if (!called->facts.empty()) result["structuredContent"] = try_parse_json(called->facts);
  return result;
}

Answered list_resources(const McpOffer& offer) {
  Json resources = Json::array();
  for (const McpResource& one : offer.resources) {
    resources.push_back(
        {{"uri", one.uri}, {"name", one.name}, {"description", one.description}, {"mimeType", one.mime_type}});
  }
  return Json{{"resources", std::move(resources)}};
}

Answered read_resource(const McpOffer& offer, const Json& parameters) {
  const auto resource =
      find(offer.resources, &McpResource::uri, text_of(member(parameters, "uri")), "resource", kNoResource);
  if (!resource) return tl::make_unexpected(resource.error());
  const Result<std::string> text = (*resource)->read();
  if (!text) return fault(kOurFault, to_string(text.error()));
  const Json content{{"uri", (*resource)->uri}, {"mimeType", (*resource)->mime_type}, {"text", valid_utf8(*text)}};
  return Json{{"contents", Json::array({content})}};
}

Answered list_prompts(const McpOffer& offer) {
  Json prompts = Json::array();
  for (const McpPrompt& one : offer.prompts) {
    Json arguments = Json::array();
    for (const McpPrompt::Argument& argument : one.arguments) {
      arguments.push_back(
          {{"name", argument.name}, {"description", argument.description}, {"required", argument.needed}});
    }
    prompts.push_back({{"name", one.name}, {"description", one.description}, {"arguments", std::move(arguments)}});
  }
  return Json{{"prompts", std::move(prompts)}};
}

Answered get_prompt(const McpOffer& offer, const Json& parameters) {
  const auto prompt =
      find(offer.prompts, &McpPrompt::name, text_of(member(parameters, "name")), "prompt", kWrongParameters);
  if (!prompt) return tl::make_unexpected(prompt.error());
  const Answered arguments = object_in(parameters, "arguments");
  if (!arguments) return arguments;
  for (const McpPrompt::Argument& one : (*prompt)->arguments) {
    if (one.needed && !arguments->contains(one.name))
      return fault(kWrongParameters, fmt::format("prompt '{}' needs the argument '{}'", (*prompt)->name, one.name));
  }
  const Result<std::string> text = (*prompt)->text(*arguments);
  if (!text) return fault(kWrongParameters, to_string(text.error()));
  const Json message{{"role", "user"}, {"content", text_content(*text)}};
  return Json{{"description", (*prompt)->description}, {"messages", Json::array({message})}};
}

Answered answer_method(const McpOffer& offer, const Json& message, const std::atomic<bool>* cancelled) {
  const std::string method = text_of(member(message, "method"));
  const Answered read = object_in(message, "params");
  if (!read) return read;
  const Json& parameters = *read;
  if (method == "initialize") return initialize(offer, parameters);
  if (method == "ping") return Json::object();
  if (method == "tools/list") return list_tools(offer);
  if (method == "tools/call") return call_tool(offer, parameters, cancelled);
  if (method == "resources/list") return list_resources(offer);
  if (method == "resources/templates/list") return Json{{"resourceTemplates", Json::array()}};
  if (method == "resources/read") return read_resource(offer, parameters);
  if (method == "prompts/list") return list_prompts(offer);
  if (method == "prompts/get") return get_prompt(offer, parameters);
  return fault(kNoMethod, fmt::format("no method '{}'", method));
}

Json response(const Json& id, const Answered& answered) {
  Json json{{"jsonrpc", "2.0"}, {"id", id}};
  if (answered)
    json["result"] = *answered;
  else
    json["error"] = {{"code", answered.error().code}, {"message", answered.error().message}};
  return json;
}

std::optional<Json> answer_one(const McpOffer& offer, const Json& message, const std::atomic<bool>* cancelled) {
  const bool is_answer =
      message.is_object() && !message.contains("method") && (message.contains("result") || message.contains("error"));
  if (is_answer) return std::nullopt;  // nothing was asked of the client
  // An id of any type comes back as it is: the client waits for it.
  const Json& id = member(message, "id");
  if (text_of(member(message, "method")).empty() || text_of(member(message, "jsonrpc")) != "2.0")
    return response(id, fault(kNoRequest, "no request of JSON-RPC 2.0"));
  if (!message.contains("id")) return std::nullopt;  // a notification
  return response(id, answer_method(offer, message, cancelled));
}

}  // namespace

std::optional<std::string> answer_mcp(const McpOffer& offer, std::string_view text,
                                      const std::atomic<bool>* cancelled) {
  Result<Json> message = parse_json(text, "the message");
  if (!message) {
    Json read = read_json(text);
    if (read.is_discarded()) return dump(response({}, fault(kNoJson, message.error().message)));
    message = std::move(read);
  }
  if (!message->is_array()) {
    const std::optional<Json> answer = answer_one(offer, *message, cancelled);
    return answer ? std::optional(dump(*answer)) : std::nullopt;
  }
  if (message->empty()) return dump(response({}, fault(kNoRequest, "an empty list, expected requests")));
  if (message->size() > kMostMessages) {
    return dump(response({}, fault(kNoRequest, fmt::format("a list of {} messages, expected at most {}",
                                                           message->size(), kMostMessages))));
  }
  std::string answers;
  for (const Json& one : *message) {
    std::optional<Json> answer = answer_one(offer, one, cancelled);
    if (!answer) continue;
    answers += (answers.empty() ? "[" : ",") + dump(*answer);
    if (answers.size() > kMostListBytes) {
      return dump(
          response({}, fault(kNoRequest, fmt::format("the answers to a list take more than {} bytes; ask one by "
                                                     "one",
                                                     kMostListBytes))));
    }
  }
  return answers.empty() ? std::nullopt : std::optional(answers + "]");
}

}  // namespace passnet::agent
