#include "key.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/file/file.h"
#include "base/text/strings.h"

namespace passnet::cli {

namespace {

// Anything else would end up in a header as it is.
Result<std::string> checked(std::string_view text, const char* where) {
  const std::string key(trim(text));
  const bool plain = std::ranges::all_of(key, [](char c) { return c > ' ' && c < '\x7f'; });
  if (plain && !key.empty()) return key;
  return bad_input(fmt::format("{}: expected a key on one line, found {}", where,
                               key.empty() ? "nothing" : "spaces, line ends or other characters in it"));
}

}  // namespace

Result<std::string> read_key(const std::string& file, const agent::Api& api) {
  if (!file.empty()) {
    PASSNET_TRY(const std::string text, read_file(file, FileKind::Settings));
    return checked(text, "--key-file");
  }
  const char* const key = std::getenv(api.key_variable);
  if (key == nullptr || *key == '\0') return std::string();
  Result<std::string> read = checked(key, api.key_variable);
  // Workers and compilers have no need of it.
  ::unsetenv(api.key_variable);
  return read;
}

}  // namespace passnet::cli
