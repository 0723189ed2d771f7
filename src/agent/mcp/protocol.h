// The Model Context Protocol, server side: one message in, at most one out. Knows nothing of passes, and of no transport.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace passnet::agent {

/// What a tool gave: text for the model, and the same facts for programs.
struct McpResult {
  std::string text;
  bool is_error = false;   // the call was wrong, or what it asked for went wrong
  std::string facts = {};  // an object of JSON, as text; empty: none
};

struct McpTool {
  std::string name, description;
  std::string schema;  // of its arguments: a JSON schema, as text
  /// cancelled: becomes true when the client no longer waits for the result; may be null.
  /// Errors: become results with is_error.
  std::function<Result<McpResult>(const Json& arguments, const std::atomic<bool>* cancelled)> call;
};

struct McpResource {
  std::string uri, name, description, mime_type;
  std::function<Result<std::string>()> read;
};

struct McpPrompt {
  struct Argument {
    std::string name, description;
    bool needed = false;
  };
  std::string name, description;
  std::vector<Argument> arguments;
  /// arguments: an object of texts. Returns: what a user would say. Errors: BadInput.
  std::function<Result<std::string>(const Json& arguments)> text;
};

/// What a server has to offer.
struct McpOffer {
  std::string name, version;
  std::string instructions;  // how to use it, for the model
  std::vector<McpTool> tools;
  std::vector<McpResource> resources;
  std::vector<McpPrompt> prompts;
};

/// The newest revision of the protocol that is spoken; clients that ask for an older one get that.
inline constexpr const char* kMcpVersion = "2025-06-18";

/// message: JSON-RPC 2.0: a request, a notification, a response, or a list of them (as revision 2025-03-26 has it).
/// Returns: the response, a line of JSON; nullopt to what wants none. What is wrong with the message stands in the response.
/// cancelled: of McpTool::call.
std::optional<std::string> answer_mcp(const McpOffer& offer, std::string_view message,
                                      const std::atomic<bool>* cancelled = nullptr);

}  // namespace passnet::agent
