// Tools and their results in plain text, for models and servers that have no calls of their own.
#pragma once

#include <string>
#include <vector>

#include "agent/chat/conversation.h"

namespace passnet::agent {

/// How to call these tools in text; for the end of a system prompt.
std::string describe_in_text(const std::vector<ToolSpec>& tools);

/// The conversation for a server that knows no tools: calls stay in the text they came in, results are the user's.
Conversation without_tools(const Conversation& conversation);

}  // namespace passnet::agent
