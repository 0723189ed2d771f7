// The key of a model's server: from the environment, a file, a command, or, as upstream has it, the command line.
#pragma once

#include <string>

#include "agent/chat/api.h"
#include "base/result.h"

namespace passnet::cli {

struct KeySource {
  std::string file, command;  // empty: not given
  bool on_command_line = false;
};

/// Takes the value of --openai-api-key out of the arguments, so that no list of processes shows it. Before they are parsed.
void take_key(int argc, char** argv);

/// Empty where there is none: local servers want none. Errors: Io, BadInput: a command that fails, a key of several lines.
Result<std::string> read_key(const KeySource& source, const agent::Api& api);

}  // namespace passnet::cli
