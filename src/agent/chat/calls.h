// Calls of tools as servers send them: in pieces, with ids and indexes that are missing or repeat, and with arguments in
// odd forms.
// Quirks, which docs/agent.md lists: what servers send | what is made of it
//   parallel calls with one `index` or none (Gemini) | a piece with a name and another `id` begins a call
//   `id` or name in every piece, a name in pieces, the call repeated at the end (LM Studio, vLLM) | one call
//   no `id`, or one `id` for several calls (mlx-lm, Ollama, Kimi) | a new `id` of nine letters and digits
//   arguments as an object, encoded or sent twice, `[]`, `null`, empty (Qwen, GLM) | the object
//   arguments cut off at the token limit | `{}` in the history; the result has the error
//   `functions.NAME`, `NAME<\|channel\|>…` (gpt-oss, Kimi) | the call
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/chat/conversation.h"

namespace passnet::agent {

/// Bytes of a call's arguments that are read of an answer; what is longer is cut off.
inline constexpr size_t kMostArguments = 2 * kMaxTextBytes;

/// A call that any server takes back: a name of letters, digits, '_' and '-', and arguments that are an object of JSON.
/// arguments: such an object; nothing; an object encoded twice, or sent twice. Anything else: {} with a `problem`.
/// cut:       the answer ended early, in this call: arguments that are missing are a problem too.
ToolCall read_call(std::string_view id, std::string_view name, std::string_view arguments, bool cut);

/// The arguments in a piece or a whole call: text, or an object.
std::string arguments_of(const Json& function);

/// An answer ended early because it grew too long.
bool is_cut(std::string_view finish);

/// Puts the calls of one streamed answer together.
class CallPieces {
 public:
  /// tool_calls: of one event, a list of pieces.
  void add_event(const Json& tool_calls);
  /// cut: as read_call, for the last call.
  std::vector<ToolCall> finish(bool cut);

 private:
  struct Call {
    int64_t index = 0;
    int64_t event = 0;  // in which it began
    std::string id, name, arguments;
  };
  struct Piece {
    std::optional<int64_t> index;
    std::string id, name, arguments;
  };
  void add(const Piece& piece);
  Call* continued(const Piece& piece);

  std::vector<Call> calls_;
  int64_t event_ = 0;
};

/// Gives calls that have no id, or one that an earlier call of the conversation has, an id of their own.
void make_ids_unique(std::vector<ToolCall>& calls, const Conversation& earlier);

}  // namespace passnet::agent
