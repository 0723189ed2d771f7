#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/hash.h"
#include "base/text/strings.h"
#include "http/server.h"

namespace passnet::http {

namespace {

constexpr size_t kShortestToken = 16, kLongestToken = 200;

bool is_fit_token(std::string_view text) {
  return text.size() >= kShortestToken && text.size() <= kLongestToken &&
         std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7F; });
}

struct NamedToken {
  std::string name, token;
};

Result<std::vector<NamedToken>> read_tokens(const std::string& file) {
  PASSNET_TRY(const std::string text, read_file(file, FileKind::Settings));
  std::vector<NamedToken> tokens;
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
    if (std::ranges::any_of(tokens, [&](const auto& one) { return one.name == name; }))
      return bad_input(fmt::format("two clients {}, expected a name for each token", quoted(name)), place);
    if (std::ranges::any_of(tokens, [&](const auto& one) { return one.token == token; }))
      return bad_input("a token that another line has, expected one for each client", place);
    tokens.push_back({name, std::string(token)});
  }
  if (tokens.empty()) return bad_input("no token, expected a line 'NAME TOKEN' for each client", SourceLoc{file});
  return tokens;
}

}  // namespace

Result<Tokens> load_tokens(const std::string& file) {
  PASSNET_TRY(const std::vector<NamedToken> found, read_tokens(file));
  Tokens tokens;
  for (const NamedToken& one : found) tokens.emplace(sha256_hex(one.token), one.name);
  return tokens;
}

Result<std::string> load_first_token(const std::string& file) {
  PASSNET_TRY(std::vector<NamedToken> found, read_tokens(file));
  return std::move(found.front().token);
}

}  // namespace passnet::http
