// Finds calls of tools in plain text, in the forms that models were trained on.
// Quirks, which docs/agent.md lists: what servers send | what is made of it
//   text: `<function=NAME><parameter=KEY>` (Qwen3-Coder), `<tool_call>NAME<arg_key>…` (GLM) | a call; tags inside a value are text
//   text: `<tool_call>{"name", "arguments"}`, lists, missing brackets or end tags (Hermes) | a call
//   text: fenced blocks of `tool` and `json` | a call
//   text: calls within `<think>` | none
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/chat/conversation.h"

namespace passnet::agent {

struct CallsInText {
  std::vector<ToolCall> calls;  // in order, without ids
  std::string text;             // without a call that was cut off
};

/// text: holds calls as
///   ```tool                     <tool_call>            <function=NAME>                      <tool_call>NAME
///   {"name", "arguments"}       {"name", "arguments"}  <parameter=KEY>VALUE</parameter>     <arg_key>KEY</arg_key>
///   ```                         </tool_call>           </function>                          <arg_value>VALUE</arg_value>
///                                                                                           </tool_call>
///       the third form also inside <tool_call>; ```json blocks where they hold a name and arguments. Calls inside
///       thoughts (<think>) are none, and tags inside a value are text.
/// cut:  the answer ended early: a call that is not ended was not meant so.
/// Values of the tagged forms that are numbers, lists or true and false by the tool's schema are such; others are text.
/// A block that cannot be read is a call with a `problem`.
CallsInText calls_in_text(std::string_view text, const std::vector<ToolSpec>& tools, bool cut);

}  // namespace passnet::agent
