#include "pass/triton/triton_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/json/json_object.h"
#include "base/text/strings.h"
#include "pass/kernel/compile_run.h"

namespace passnet {

namespace pass {
namespace {

constexpr size_t kMessageBytes = 400;

/// "error" of an answer.
struct Cause {
  std::string message, file, hint;
  uint32_t line = 0, column = 0;
};

}  // namespace
}  // namespace pass

PASSNET_JSON_FIELDS(pass::Cause, "error of Triton",
                    PASSNET_FIELDS(message) PASSNET_FIELDS_MAY_LACK(file, line, column, hint))

namespace pass {
namespace {

/// On one line, and not longer than a reader wants.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  while (line.ends_with(' ') || line.ends_with('.')) line.pop_back();
  if (line.size() > kMessageBytes) line = line.substr(0, kMessageBytes) + "…";
  return valid_utf8(line);
}

/// The place in the author's file; none when it is no place in one of the modules.
std::optional<SourceLoc> place_of(const std::string& file, uint32_t line, uint32_t column,
                                  const TritonRequest& request) {
  for (const auto& module : request.modules) {
    const auto lines = static_cast<uint32_t>(std::count(module->text->begin(), module->text->end(), '\n') + 1);
    if (file == file_in_jail(*module) && line >= 1 && line <= lines) return SourceLoc{module->file, line, column};
  }
  return std::nullopt;
}

/// "pass_dir/k.py:7:14: error: text", as the compiler's later stages write to the log.
std::optional<Error> error_in_log(std::string_view log, const TritonRequest& request) {
  constexpr std::string_view kMark = ": error: ";
  for (const std::string_view line : split(log, '\n')) {
    const size_t mark = line.find(kMark);
    if (mark == std::string_view::npos) continue;
    const auto parts = split(line.substr(0, mark), ':');
    if (parts.size() != 3) continue;
    const auto number = [](std::string_view text) {
      return static_cast<uint32_t>(std::strtoul(std::string(text).c_str(), nullptr, 10));
    };
    if (const auto at = place_of(std::string(parts[0]), number(parts[1]), number(parts[2]), request))
      return bad_pass(one_line(line.substr(mark + kMark.size())), at);
  }
  return std::nullopt;
}

Error out_of_memory(const CompileRequest& limits) {
  return *exhausted({sandbox::ExitStatus{}, "out of memory"}, limits);
}

Error from_cause(const Cause& cause, const std::string& log, const TritonRequest& request) {
  const auto at = place_of(cause.file, cause.line, cause.column, request);
  if (!at) {
    if (auto logged = error_in_log(log, request)) return *logged;
  }
  std::string message = one_line(cause.message);
  if (message.empty()) message = "Triton gives up on the kernel and does not say why";
  return bad_pass(std::move(message), at ? at : request.at).with_hint(one_line(cause.hint));
}

}  // namespace

std::optional<Error> triton_error(const std::string& facts, const std::string& log, const TritonRequest& request,
                                  const CompileRequest& limits) {
  const Result<Json> json = parse_json(facts, "answer");
  if (json && json->is_object()) {
    if (json->contains("ptx")) return std::nullopt;
    if (json->contains("memory")) return out_of_memory(limits);
    if (const auto error = json->find("error"); error != json->end()) {
      if (const Result<Cause> cause = from_json_object<Cause>(*error)) return from_cause(*cause, log, request);
    }
  }
  return bad_pass(fmt::format("kernel '{}' answers for Triton: {}", request.kernel, quoted(facts, 60)), request.at);
}

Error triton_end_error(const std::string& end, const std::string& log, const TritonRequest& request,
                       const CompileRequest& limits) {
  if (end == "time") return *exhausted({sandbox::ExitStatus{}, "CPU time limit"}, limits);
  // LLVM's words and C++'s: what ran out there ends the process.
  for (const char* words : {"out of memory", "bad_alloc", "MemoryError"}) {
    if (log.find(words) != std::string::npos) return out_of_memory(limits);
  }
  const auto lines = split(trim(log), '\n');
  std::string said = lines.empty() || lines.back().empty() ? "" : ": " + quoted(lines.back(), 200);
  return bad_pass(fmt::format("Triton crashes on kernel '{}' ({}){}", request.kernel, end, said), request.at);
}

}  // namespace pass
}  // namespace passnet
