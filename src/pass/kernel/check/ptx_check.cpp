#include "pass/kernel/check/ptx_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/strings.h"
#include "pass/kernel/check/ptx_tokens.h"

namespace passnet::pass {
namespace {

/// Instructions, by their name before the first dot.
constexpr std::string_view kInstructions[] = {"alloca", "brkpt", "griddepcontrol", "nanosleep", "pmevent", "trap"};
/// Registers, by how their names begin: time, counters, and which launch this is.
constexpr std::string_view kRegisters[] = {"%clock", "%globaltimer", "%pm", "%envreg", "%gridid", "%current_graph"};
constexpr const char* kHint = "kernels compute on their arguments; passnet/kernel.h gives what they need for that";

/// Of a declaration "(.param .b32 r) name": the name.
std::string_view function_name(PtxTokens& tokens) {
  std::string_view token = tokens.next();
  if (token != "(") return token;
  while (!token.empty() && token != ")") token = tokens.next();
  return tokens.next();
}

/// Lines that end or texts that begin elsewhere for ptxas than for us could hide anything.
bool ambiguous(std::string_view token) {
  return token == "#" || token == "\\" || (token.starts_with('"') && token.find('\\') != std::string_view::npos);
}
bool odd_control(char c) { return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t'; }

}  // namespace

Result<void> check_ptx(std::string_view ptx, const std::string& kernel, const std::string& hint) {
  const auto refuse = [&](const char* what, std::string_view name) {
    return bad_pass(fmt::format("kernel '{}' {} {}, which kernels do not have", kernel, what, quoted(name, 60)))
        .with_hint(hint.empty() ? kHint : hint);
  };
  if (const auto odd = std::find_if(ptx.begin(), ptx.end(), odd_control); odd != ptx.end())
    return refuse("holds the character", std::string_view(&*odd, 1));
  PtxTokens tokens(ptx);
  bool external = false;
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (external && token == ".func") return refuse("calls", function_name(tokens));
    external = token == ".extern";
    if (ambiguous(token)) return refuse("holds the text", token);
    const auto starts = [&](std::string_view name) { return token.starts_with(name); };
    if (std::any_of(std::begin(kRegisters), std::end(kRegisters), starts)) return refuse("reads", token);
    const std::string_view name = token.substr(0, token.find('.'));
    if (std::find(std::begin(kInstructions), std::end(kInstructions), name) != std::end(kInstructions))
      return refuse("holds the instruction", name);
  }
  return {};
}

}  // namespace passnet::pass
