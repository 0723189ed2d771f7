// Arguments of a call, read as leniently as they can be understood: models write numbers and lists as text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace passnet::agent {

/// nullopt: it is not there, or null. Errors: BadInput naming the argument, what was expected and what was found.
Result<std::optional<std::string>> text_argument(const Json& arguments, const std::string& name);
Result<std::optional<int64_t>> integer_argument(const Json& arguments, const std::string& name);
Result<std::optional<std::vector<int64_t>>> integers_argument(const Json& arguments, const std::string& name);
/// The text; BadInput where it is missing. of: "str_replace", for the message.
Result<std::string> needed_text(const Json& arguments, const std::string& name, const std::string& of);

}  // namespace passnet::agent
