// A language model behind an API: a conversation in, an answer out, however often it takes.
// Quirks, which docs/agent.md lists: what servers send | what is made of it
//   `max_tokens`, `stream_options` or `content: null` is refused | asked again with `max_completion_tokens`, without, with an empty text
//   calls are refused | the hint is `--tools text`
//   the prompt is too long, in any wording (llama.cpp, vLLM) | `token_limit`
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "agent/chat/api.h"
#include "agent/chat/conversation.h"
#include "http/post.h"
#include "http/retry.h"

namespace passnet::agent {

/// Asks once. Errors: Resource (the server cannot be reached, or refuses), Resource "interrupted", BadInput (what it sends
/// is no answer), Resource "context": the prompt is longer than the model takes.
using Model = std::function<Result<Answer>(const Conversation& conversation, const std::vector<ToolSpec>& tools)>;

struct ModelOptions {
  const Api* api = &kOpenAi;
  std::string base_url;
  std::string key;           // empty: none is sent
  Request request;           // but for its tools
  bool native_tools = true;  // false: calls stand in the text
  http::Limits limits;
  http::RetryPolicy retries;
};

/// Can be called by several threads at once.
/// stop: becomes true at Ctrl-C: an answer that is on its way is still taken, but none is waited for again. May be null.
/// told: of each try that failed and is made again; may be empty.
Model connect(const ModelOptions& options, const std::atomic<bool>* stop,
              const std::function<void(const std::string&)>& told);

}  // namespace passnet::agent
