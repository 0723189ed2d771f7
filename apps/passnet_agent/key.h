// The key of a model's server: from a file or the environment.
#pragma once

#include <string>

#include "agent/chat/api.h"
#include "base/result.h"

namespace passnet::cli {

/// file: empty: the environment variable of the API. Returns: the key; empty where there is none, as local servers want
/// none. Errors: Io, BadInput: a key of several lines.
Result<std::string> read_key(const std::string& file, const agent::Api& api);

}  // namespace passnet::cli
