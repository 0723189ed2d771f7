#include <fmt/format.h>

#include <algorithm>

#include "http/server.h"
#include "base/file/file.h"
#include "base/hash.h"
#include "base/text/strings.h"

namespace passnet::http {

namespace {

constexpr size_t kShortestToken = 16, kLongestToken = 200;

bool is_fit_token(std::string_view text) {
  return text.size() >= kShortestToken && text.size() <= kLongestToken &&
         std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7F; });
}

}  // namespace

Result<Tokens> load_tokens(const std::string& file) {
  PASSNET_TRY(const std::string text, read_file(file, FileKind::Settings));
  Tokens tokens;
  uint32_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    line = trim(line);
    if (line.empty() || line.starts_with('#')) continue;
    const SourceLoc place{file, number, 0};
    const size_t space = line.find_first_of(" \t");
    const std::string_view token = space == std::string_view::npos ? line : trim(line.substr(space));
    const std::string name =
        space == std::string_view::npos ? std::to_string(number) : std::string(line.substr(0, space));
    if (!is_fit_token(token))
      return bad_input(fmt::format("a token of {} characters, expected {} to {} of printable ASCII", token.size(),
                                   kShortestToken, kLongestToken),
                       place)
          .with_hint("'openssl rand -hex 32' prints one");
    if (std::ranges::any_of(tokens, [&](const auto& one) { return one.second == name; }))
      return bad_input(fmt::format("two clients {}, expected a name for each token", quoted(name)), place);
    if (!tokens.emplace(sha256_hex(token), name).second)
      return bad_input("a token that another line has, expected one for each client", place);
  }
  if (tokens.empty()) return bad_input("no token, expected a line 'NAME TOKEN' for each client", SourceLoc{file});
  return tokens;
}

}  // namespace passnet::http
