// Upstream's log parser, rule by rule (docs/scoring.md, "Logs"): what a line is depends on the first pattern
// found anywhere in it, and a later line of the same kind replaces an earlier one.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/text/strings.h"
#include "record/score/score.h"
#include "record/tolerance.h"

namespace passnet::record {

namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find_first_not_of(" \t\r", at);
    if (begin == std::string_view::npos) break;
    at = std::min(text.find_first_of(" \t\r", begin), text.size());
    out.emplace_back(text.substr(begin, at - begin));
  }
  return out;
}

struct KeyValue {
  std::string key;
  std::string_view value;
};

/// `head` + word + "]: " + at least one character, anywhere in the line. head ends with "[".
std::optional<KeyValue> find_keyed(std::string_view line, std::string_view head) {
  for (size_t at = line.find(head); at != std::string_view::npos; at = line.find(head, at + 1)) {
    const size_t begin = at + head.size();
    size_t end = begin;
    while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_')) ++end;
    if (end > begin && line.substr(end, 3) == "]: " && line.size() > end + 3) {
      return KeyValue{std::string(line.substr(begin, end - begin)), line.substr(end + 3)};
    }
  }
  return std::nullopt;
}

/// "[Correctness]" + "[" key "]" + ": " + at least one character; the longest key wins.
std::optional<KeyValue> find_correctness(std::string_view line) {
  constexpr std::string_view kHead = "[Correctness][";
  const size_t at = line.find(kHead);
  if (at == std::string_view::npos || line.size() < 4) return std::nullopt;
  const size_t begin = at + kHead.size();
  const size_t end = line.rfind("]: ", line.size() - 4);
  if (end == std::string_view::npos || end <= begin) return std::nullopt;
  return KeyValue{std::string(line.substr(begin, end - begin)), line.substr(end + 3)};
}

/// What one sample's lines left behind.
struct Parsed {
  bool eager_ok = false, compile_ok = false, shape_ok = false, type_ok = false, runtime_fail = false;
  std::vector<std::string> eager_dtypes;
  std::map<std::string, std::vector<double>> correctness;
  std::optional<double> speedup;
};

void note_status(Parsed& parsed, std::string_view line) {
  if (contains(line, "[Datatype][eager]"))
    parsed.eager_ok = true;
  else if (contains(line, "[Datatype][compiled]"))
    parsed.compile_ok = true;
  else if (contains(line, "[Shape]") && contains(line, "match:True"))
    parsed.shape_ok = true;
  else if (contains(line, "[DataType]") && contains(line, "match:True"))
    parsed.type_ok = true;
  else if (contains(line, "all_close"))
    parsed.shape_ok = parsed.eager_ok = parsed.compile_ok = true;
  else if (contains(line, "No passes modified"))
    parsed.runtime_fail = true;  // "pass_miss", which counts as any error that has no class of its own
  if (contains(line, "Exception:") || contains(line, "Error:")) parsed.runtime_fail = true;
}

Result<double> parse_number(std::string_view text, const SourceLoc& at) {
  const std::string word(trim(text));
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (word.empty() || end != word.c_str() + word.size()) {
    return bad_input(fmt::format("expected a number, found {}", quoted(word)), at);
  }
  return value;
}

bool has_value_after(std::string_view line, std::string_view head) {
  const size_t at = line.find(head);
  return at != std::string_view::npos && line.size() > at + head.size();
}

bool is_config(std::string_view line) {
  constexpr std::string_view kHead = "[Config] ";
  const size_t at = line.find(kHead);
  if (at == std::string_view::npos) return false;
  const std::string_view rest = line.substr(at + kHead.size());
  const size_t colon = rest.substr(0, rest.find(' ')).size();
  return colon > 1 && rest[colon - 1] == ':' && rest.size() > colon + 1;
}

Result<void> note_data(Parsed& parsed, std::string_view line, const SourceLoc& at) {
  if (has_value_after(line, "[Processing] ") || is_config(line) || find_keyed(line, "[Performance][")) return {};
  if (const auto found = find_keyed(line, "[Datatype][")) {
    if (found->key == "eager") parsed.eager_dtypes = split_words(found->value);
    return {};
  }
  if (const auto found = find_correctness(line)) {
    std::vector<double> values;
    for (const std::string& word : split_words(found->value)) {
      PASSNET_TRY(const double value, parse_number(word, at));
      values.push_back(value);
    }
    parsed.correctness[found->key] = std::move(values);
    return {};
  }
  if (const auto found = find_keyed(line, "[Speedup]["); found && found->key == "e2e") {
    PASSNET_TRY(parsed.speedup, parse_number(found->value, at));
  }
  return {};
}

bool output_passes(const Parsed& parsed, size_t output, int t) {
  if (output >= parsed.eager_dtypes.size()) return false;
  const Tolerance pair = tolerance(parsed.eager_dtypes[output], t);
  const bool exact = pair.atol == 0 && pair.rtol == 0;
  const auto line = parsed.correctness.find(exact ? "equal" : "all_close_" + tolerance_key(pair));
  return line != parsed.correctness.end() && output < line->second.size() && line->second[output] != 0;
}

/// Smallest t from which every rung up to 5 passes for every output; 6: none.
int passes_from(const Parsed& parsed) {
  const auto equal = parsed.correctness.find("equal");
  const size_t outputs = equal == parsed.correctness.end() ? 0 : equal->second.size();
  int rung = kLastNumericT + 1;
  const auto passes_at = [&](int t) {
    for (size_t i = 0; i < outputs; ++i) {
      if (!output_passes(parsed, i, t)) return false;
    }
    return true;
  };
  while (rung > kFirstT && passes_at(rung - 1)) --rung;
  return rung;
}

Verdict verdict_of(const Parsed& parsed) {
  constexpr int kNever = kLastNumericT + 1;
  if (!parsed.eager_ok) return {Status::EagerFail, kNever, 0};
  if (!parsed.compile_ok) return {Status::CompileFail, kNever, 0};
  if (!parsed.shape_ok) return {Status::ShapeMismatch, kNever, 0};
  if (!parsed.type_ok) return {Status::TypeMismatch, kNever, 0};
  if (parsed.runtime_fail) return {Status::RuntimeFail, kNever, 0};
  const int rung = passes_from(parsed);
  const double speedup = parsed.speedup.value_or(0);
  if (speedup > 0 && std::isfinite(speedup)) return {Status::Correct, rung, speedup};
  if (rung == kNever || !parsed.speedup) return {Status::Correct, rung, 0};
  return {Status::RuntimeFail, kNever, 0};
}

}  // namespace

std::vector<std::string> names_in_upstream_log(std::string_view text) {
  constexpr std::string_view kHead = "[Processing]";
  std::vector<std::string> names;
  for (const std::string_view line : split(text, '\n')) {
    const size_t at = line.find(kHead);
    if (at != std::string_view::npos) names.emplace_back(trim(line.substr(at + kHead.size())));
  }
  return names;
}

Result<std::vector<Verdict>> verdicts_from_upstream_log(const std::string& file, std::string_view text) {
  std::vector<Verdict> verdicts;
  std::optional<Parsed> current;
  uint32_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (contains(line, "[Processing]")) {
      if (current) verdicts.push_back(verdict_of(*current));
      current.emplace();
    }
    if (!current) continue;
    note_status(*current, line);
    PASSNET_TRY_VOID(note_data(*current, line, SourceLoc{file, number, 1}));
  }
  if (!current) {
    return bad_input("expected a line with '[Processing]', found none", SourceLoc{file, 0, 0})
        .with_hint("a validation.log begins every graph with such a line");
  }
  verdicts.push_back(verdict_of(*current));
  return verdicts;
}

}  // namespace passnet::record
