#include "pass/kernel/check/ptx_entry.h"

#include <fmt/format.h>

#include <optional>

#include "base/text/parse_number.h"
#include "base/text/strings.h"
#include "pass/kernel/check/ptx_tokens.h"
#include "pass/plan/launch_list.h"

namespace passnet::pass {
namespace {

std::optional<int64_t> number(std::string_view text) { return parse_number<uint32_t>(text); }

/// Of ".u64", ".b8", ".f32": its bytes; none for anything else.
std::optional<int64_t> type_bytes(std::string_view token) {
  if (token.size() < 3 || token[0] != '.' || std::string_view("usbf").find(token[1]) == std::string_view::npos)
    return std::nullopt;
  const auto bits = number(token.substr(2));
  if (!bits || (*bits != 8 && *bits != 16 && *bits != 32 && *bits != 64)) return std::nullopt;
  return *bits / 8;
}

Error odd(std::string_view where, std::string_view token) {
  return bad_pass(fmt::format("the PTX of the kernel is of another form than Triton writes: found {} in {}",
                              quoted(token, 40), where));
}

/// From ".param" to the "," or ")" behind it, which is left in `token`.
Result<int64_t> parameter_bytes(PtxTokens& tokens, std::string_view& token) {
  std::optional<int64_t> bytes;
  int64_t count = 1;
  if (token != ".param") return odd("its parameters", token);
  for (token = tokens.next(); token != "," && token != ")"; token = tokens.next()) {
    if (token.empty()) return odd("its parameters", token);
    if (const auto type = type_bytes(token)) {
      if (bytes) return odd("its parameters", token);
      bytes = type;
    } else if (token == "[") {
      token = tokens.next();
      const auto items = number(token);
      if (!items || tokens.next() != "]") return odd("its parameters", token);
      count = *items;
    }
  }
  if (!bytes) return odd("its parameters", token);
  return *bytes * count;
}

/// What stands between a kernel's name and its body.
Result<void> read_header(PtxTokens& tokens, PtxEntry& entry) {
  std::string_view token = tokens.next();
  if (token == "(") {
    token = tokens.next();
    while (token != ")") {
      PASSNET_TRY(entry.parameters.emplace_back(), parameter_bytes(tokens, token));
      if (token == ",") token = tokens.next();
    }
    token = tokens.next();
  }
  while (token != "{" && !token.empty()) {
    if (token != ".reqntid" && token != ".maxntid") {
      token = tokens.next();
      continue;
    }
    entry.threads = 1;
    do {
      const auto size = number(tokens.next());
      if (!size || *size > kMaxBlock) return odd("its header", token);
      entry.threads *= *size;
      token = tokens.next();
    } while (token == ",");
  }
  return {};
}

}  // namespace

Result<PtxEntry> read_ptx_entry(std::string_view ptx) {
  PtxEntry entry;
  PtxTokens tokens(ptx);
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token == ".target") entry.target = tokens.next();
    if (token != ".entry") continue;
    if (!entry.name.empty()) return odd("what should be one kernel", token);
    entry.name = tokens.next();
    PASSNET_TRY_VOID(read_header(tokens, entry));
  }
  if (entry.name.empty()) return odd("what should be a kernel", "no .entry");
  return entry;
}

}  // namespace passnet::pass
