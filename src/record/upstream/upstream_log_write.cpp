// validation.log, line by line as upstream's torch runner prints it (docs/scoring.md, "Logs").
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/json/json.h"
#include "base/text/visible.h"
#include "base/version.h"
#include "record/score/score.h"
#include "record/stats.h"
#include "record/tolerance.h"

namespace passnet::record {

namespace {

constexpr std::string_view kPrompt = "graph-net-test-compiler-log";
constexpr std::array<std::string_view, 4> kSweptDtypes = {"float16", "bfloat16", "float32", "float64"};

/// Foreign text made harmless: one line, no bracket that could open a key, none of the words the status rules
/// look for.
std::string inert(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kReplacements = {{
      {"\n", " | "},
      {"[", "("},
      {"]", ")"},
      {"all_close", "all-close"},
      {"Error:", "Error -"},
      {"Exception:", "Exception -"},
  }};
  std::string out = visible(text);
  for (const auto& [found, replacement] : kReplacements) {
    for (size_t at = out.find(found); at != std::string::npos; at = out.find(found, at + replacement.size())) {
      out.replace(at, found.size(), replacement);
    }
  }
  return out;
}

/// A name as one word: the parser takes the last word of the line.
std::string inert_word(std::string_view text) {
  std::string out = inert(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }, '_');
  return out.empty() ? "_" : out;
}

/// As Python prints a float: "2.0", "1e-05", "nan".
std::string python_float(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

class Log {
 public:
  template <class... Args>
  void prompt(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), "{} ", kPrompt);
    plain(format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void plain(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

std::string performance_json(const Timing& timing) {
  constexpr double kUsPerMs = 1000;
  const Stats us = summarize(timing.trials_us);
  const auto ms = [](double value) { return python_float(round6(value / kUsPerMs)); };
  return fmt::format(R"({{"e2e": {{"median": {}, "iqr": {}, "mean": {}, "std": {}, "min": {}, "max": {}}}}})",
                     ms(us.median), ms(us.iqr), ms(us.mean), ms(us.std), ms(us.min), ms(us.max));
}

std::string words(const RunRecord& record, std::string OutputCheck::*dtype) {
  std::string out;
  for (const OutputCheck& output : record.outputs) {
    if (!(output.*dtype).empty()) out += " " + inert_word(output.*dtype);
  }
  return out;
}

std::string python_list(const RunRecord& record, std::string OutputCheck::*dtype) {
  std::string out;
  for (const OutputCheck& output : record.outputs) {
    if (!(output.*dtype).empty()) out += fmt::format("{}'{}'", out.empty() ? "" : ", ", inert_word(output.*dtype));
  }
  return "[" + out + "]";
}

std::string python_shapes(const RunRecord& record, std::vector<int64_t> OutputCheck::*shape) {
  std::string out;
  for (const OutputCheck& output : record.outputs) {
    out += fmt::format("{}[{}]", out.empty() ? "" : ", ", fmt::join(output.*shape, ", "));
  }
  return "[" + out + "]";
}

void write_config(Log& log, const RunRecord& record) {
  log.prompt("[Processing] {}", inert_word(record.sample.empty() ? record.graph : record.sample + "/" + record.graph));
  log.prompt("[Config] model: {}", inert_word(record.graph));
  log.prompt("[Config] device: {}", inert_word(record.device));
  log.prompt("[Config] hardware: {}", inert(record.hardware));
  log.prompt("[Config] compiler: {}", inert_word(record.compiler));
  log.prompt("[Config] warmup: {}", record.reference.warmup);
  log.prompt("[Config] trials: {}", record.reference.trials_us.size());
  log.prompt("[Config] compile_framework_version: passnet {}", kVersion);
  log.prompt("[Config] seed: {}", record.seed);
}

void write_times(Log& log, const RunRecord& record, const Timing& timing, std::string_view side) {
  if (timing.trials_us.empty()) return;
  log.plain("[Profiling] Using device: {} {}, warm up {}, trials {}", inert_word(record.device), inert(record.hardware),
            timing.warmup, timing.trials_us.size());
  for (size_t i = 0; i < timing.trials_us.size(); ++i) {
    log.plain("Trial {}: e2e={:.5f} ms", i + 1, timing.trials_us[i] / 1000);
  }
  log.prompt("[Performance][{}]: {}", side, performance_json(timing));
}

/// One value per output on each line. A rung's column holds what each output is by its own dtype's pair, the
/// only one that scores look at, for all four dtypes.
void write_correctness(Log& log, const RunRecord& record) {
  const auto each = [&](auto value_of) {
    std::string out;
    for (const OutputCheck& output : record.outputs) out += (out.empty() ? "" : " ") + value_of(output);
    return out;
  };
  log.prompt("[Correctness][equal]: {}", each([](const OutputCheck& output) {
               return std::string(output.passes_from <= kFirstT && output.equal ? "1" : "0");
             }));
  for (int t = kFirstT; t <= kLastNumericT; ++t) {
    const std::string flags =
        each([&](const OutputCheck& output) { return std::string(t >= output.passes_from ? "1" : "0"); });
    for (std::string_view dtype : kSweptDtypes) {
      log.prompt("[Correctness][all_close_{}]: {}", tolerance_key(tolerance(dtype, t)), flags);
    }
  }
  log.prompt("[Correctness][max_diff]: {}", each([](const OutputCheck& o) { return python_float(o.max_abs_diff); }));
  log.prompt("[Correctness][mean_diff]: {}", each([](const OutputCheck& o) { return python_float(o.mean_abs_diff); }));
}

/// Types, shapes and numbers, as far as `status` lets upstream's rules see them. A candidate that gave no
/// outputs leaves empty lists, which are equal: the log then still says runtime_fail and not shape_mismatch.
void write_comparison(Log& log, const RunRecord& record, Status status) {
  const bool shapes_match = status != Status::ShapeMismatch;
  const bool types_match = status != Status::ShapeMismatch && status != Status::TypeMismatch;
  const auto python_bool = [](bool value) { return value ? "True" : "False"; };
  log.prompt("[Shape] eager:{} compiled:{} match:{}", python_shapes(record, &OutputCheck::expected_shape),
             python_shapes(record, &OutputCheck::found_shape), python_bool(shapes_match));
  log.prompt("[DataType] eager:{} compiled:{} match:{}", python_list(record, &OutputCheck::expected_dtype),
             python_list(record, &OutputCheck::found_dtype), python_bool(types_match));
  // What the plan declined is the graph itself: right without having been compared.
  if (types_match && !record.outputs.empty() && !is_declined(record)) write_correctness(log, record);
}

void write_record(Log& log, const RunRecord& record) {
  const Verdict verdict = judge(record);
  const Status status = verdict.status;
  write_config(log, record);
  write_times(log, record, record.reference, "eager");
  if (status != Status::EagerFail) log.prompt("[Datatype][eager]:{}", words(record, &OutputCheck::expected_dtype));
  if (status != Status::EagerFail && status != Status::CompileFail) {
    write_times(log, record, record.candidate, "compiled");
    log.prompt("[Datatype][compiled]:{}", words(record, &OutputCheck::found_dtype));
    write_comparison(log, record, status);
  }
  const bool correct = status == Status::Correct;
  if (!correct) {
    const bool eager = status == Status::EagerFail && record.error_kind != "no-match";
    log.prompt("[Fail due to {} model execution error.]", eager ? "eager" : "compiled");
    const std::string why = inert(record.error.empty() ? headline(record) : record.error);
    log.plain("{}: {}", status == Status::RuntimeFail ? "RuntimeError" : "reason", why);
  }
  log.prompt("[Result] status: {}", correct ? "success" : "failed");
  if (verdict.speedup > 0) log.prompt("[Speedup][e2e]: {}", python_float(verdict.speedup));
}

}  // namespace

std::string render_upstream_log(const std::vector<RunRecord>& records) {
  Log log;
  for (const RunRecord& record : records) write_record(log, record);
  return std::move(log).take();
}

}  // namespace passnet::record
