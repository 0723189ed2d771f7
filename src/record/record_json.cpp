// RunRecord <-> JSON, and lines of it. docs/records.md describes the keys; change both together and raise kRecordVersion when
// old readers would misread what is written.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/json/json_direct.h"
#include "base/json/json_object.h"
#include "base/text/lines.h"
#include "base/text/strings.h"
#include "base/version.h"
#include "record/check_json.h"
#include "record/record.h"

namespace passnet {

namespace {
constexpr int kRecordVersion = 1;
constexpr std::array<const char*, 10> kStages = {"parse", "inputs", "reference", "match", "build",
                                                 "load",  "run",    "compare",   "time",  "done"};
}  // namespace

template <>
struct JsonForm<record::Stage> {
  static constexpr std::string_view kExpected = "the name of a stage";
  static Json write(record::Stage stage) { return record::to_string(stage); }
  static bool read(const Json& json, record::Stage& out) {
    const auto found = std::find(kStages.begin(), kStages.end(), json);
    if (found != kStages.end()) out = static_cast<record::Stage>(found - kStages.begin());
    return found != kStages.end();
  }
};

template <>
struct JsonForm<record::IsolationLevel> {
  static constexpr std::string_view kExpected = "the name of an isolation level";
  static Json write(record::IsolationLevel level) { return record::to_string(level); }
  static bool read(const Json& json, record::IsolationLevel& out) {
    const auto level = json.is_string() ? record::isolation_from(json.get<std::string>()) : std::nullopt;
    if (level) out = *level;
    return level.has_value();
  }
};

PASSNET_JSON_FIELDS(record::Track, "track", PASSNET_FIELDS(clock, inputs, cache))

PASSNET_JSON_FIELDS(record::TrackTimes, "track", PASSNET_FIELDS_OF(track) PASSNET_FIELDS(trials_us))

// Leaves out fields of a GPU where there is none.
PASSNET_JSON_FIELDS(record::Timing, "timing",
                    PASSNET_FIELDS(warmup, trials_us)
                        PASSNET_FIELDS_IF_SET(track, mode, baseline, others, sm_mhz, temperature_c, blocks))

PASSNET_JSON_FIELDS(record::Load, "load",
                    PASSNET_FIELDS(known, block_pairs, dropped_pairs, waiting_share, stolen_share, pressure_share,
                                   involuntary_switches))

PASSNET_JSON_FIELDS(record::Arithmetic, "arithmetic", PASSNET_FIELDS(dtype, operations, gflop_per_s))

PASSNET_JSON_FIELDS(record::Floor, "floor", PASSNET_FIELDS(bytes, gb_per_s, us) PASSNET_FIELDS_IF_SET(arithmetic))

PASSNET_JSON_FIELDS(record::Control, "control", PASSNET_FIELDS(reference, candidate, disturbed))

PASSNET_JSON_FIELDS(record::Tuned, "tuned launch", PASSNET_FIELDS(pass, kernel, line, site, chosen, tried_us))

PASSNET_JSON_FIELDS(record::Profile::Launch, "profiled launch",
                    PASSNET_FIELDS(pass, kernel, line, site, us, bytes, bound_us))

PASSNET_JSON_FIELDS(record::Profile::Other, "profiled operator", PASSNET_FIELDS(statement, us))

PASSNET_JSON_FIELDS(record::Profile, "profile", PASSNET_FIELDS(call_us, launches, others))

PASSNET_JSON_FIELDS(record::SecondCandidate, "rival",
                    PASSNET_FIELDS(name, problem, passes_from, reference, candidate, disturbed))

PASSNET_JSON_FIELDS(record::InputCheck, "input check", PASSNET_FIELDS(name) PASSNET_FIELDS_OF(check))

PASSNET_JSON_FIELDS(record::LibraryCall, "library call", PASSNET_FIELDS(name, line, count))

PASSNET_JSON_FIELDS(record::PassOutcome, "pass outcome",
                    PASSNET_FIELDS(pass, matches, declined, diagnosis)
                        PASSNET_FIELDS_IF_SET(idle, library_calls, replays))

PASSNET_JSON_FIELDS(record::SurplusPass, "surplus pass", PASSNET_FIELDS(pass, reason))

PASSNET_JSON_FIELDS(record::RunOptions, "options",
                    PASSNET_FIELDS(compiler, device, cuda_graph, threads, seed, warmup, trials, timeout_s, strict)
                        PASSNET_FIELDS_IF_SET(generalize, allow_library, baseline, host_code, input_pass_dir,
                                              pass_order, pass_pattern_limit)
                            PASSNET_FIELD_AS_IF_SET("pass_replacement_func_limit", pass_function_limit)
                                PASSNET_FIELDS_IF_SET(without))

PASSNET_JSON_FIELDS(record::Provenance, "provenance",
                    PASSNET_FIELDS(sample_path) PASSNET_FIELDS_IF_SET(pass_dir) PASSNET_FIELDS(graph, passes, kernels)
                        PASSNET_FIELDS_IF_SET(objects, isolation, isolation_level) PASSNET_FIELDS(options, versions))

PASSNET_JSON_FIELDS(record::Link, "chain", PASSNET_FIELDS(number, previous))

template <>
struct JsonFields<record::RunRecord> {
  static constexpr std::string_view kName = "record";
  static void visit(auto& field, auto& it) {
    PASSNET_FIELDS(version)
    field.constant("passnet", kVersion);
    PASSNET_FIELDS(sample, graph)
    PASSNET_FIELDS_IF_SET(kind)
    PASSNET_FIELDS(compiler, device, hardware, threads, seed)
    PASSNET_FIELDS_IF_SET(seed_given, seed_nonce)
    PASSNET_FIELDS(started, stage, error_kind, error)
    PASSNET_FIELDS_IF_SET(host_code, why_python)
    PASSNET_FIELDS(passes)
    PASSNET_FIELDS_IF_SET(surplus)
    PASSNET_FIELDS(outputs_counted, expected_outputs, found_outputs, outputs)
    PASSNET_FIELDS_IF_SET(inputs, tuned)
    field.if_set("profiles", it.input_kinds);
    PASSNET_FIELDS_IF_SET(no_float64, null_models, fixed_inputs, calls_compared)
    PASSNET_FIELDS(deterministic, reference, candidate, disturbed, load, evaluate_seconds)
    PASSNET_FIELDS_IF_SET(floor, control, profile)
    field.if_set("rival", it.second_candidate);
    PASSNET_FIELDS_IF_SET(provenance, texts, reference_memory, candidate_memory, retried, chain)
  }
};

}  // namespace passnet

namespace passnet::record {

namespace {

/// An object of another version is refused before its fields are looked at.
std::optional<Error> check_version(const Json& json) {
  const auto version = json.is_object() ? json.find("version") : json.end();
  if (!json.is_object() || version == json.end() || *version == kRecordVersion) return std::nullopt;
  const auto writer = json.find("passnet");
  const std::string written_by = writer != json.end() && writer->is_string()
                                     ? "passnet " + quoted(writer->get<std::string>())
                                     : std::string("an unnamed passnet");
  return bad_input(fmt::format("record version {} written by {}: expected version {}", dump(*version), written_by,
                               kRecordVersion))
      .with_hint("read it with the passnet that wrote it, or evaluate again");
}

}  // namespace

const char* to_string(Stage stage) { return kStages.at(static_cast<size_t>(stage)); }

std::string describe(const Track& track) {
  return fmt::format("{} clock, {} tensors, {} cache", track.clock, track.inputs, track.cache);
}

Json to_json(const RunRecord& record) { return to_json_object(record); }

Result<RunRecord> record_from_json(const Json& json) {
  if (auto error = check_version(json)) return std::move(*error);
  return from_json_object<RunRecord>(json);
}

namespace {

/// As written, which is the usual case and worth the speed; else by way of a tree, which says what is wrong.
Result<RunRecord> record_from_line(std::string_view line, const std::string& file) {
  if (auto record = DirectReader::read<RunRecord>(line); record && record->version == kRecordVersion)
    return std::move(*record);
  PASSNET_TRY(const Json json, parse_json(line, file));
  return record_from_json(json);
}

}  // namespace

Lines lines_of(std::string_view text) {
  return [text](const UseLine& use) -> Result<void> {
    for_each_line(text, use);
    return {};
  };
}

Result<void> for_each_record(const Lines& lines, const std::string& file, const UseRecord& use) {
  std::optional<Error> bad;
  PASSNET_TRY_VOID(lines([&](uint32_t number, std::string_view line, bool whole) {
    Result<RunRecord> record = record_from_line(line, file);
    if (record) {
      use(number, line, std::move(*record));
      return true;
    }
    if (!whole) return false;  // killed while writing
    bad = std::move(record).error();
    bad->at = SourceLoc{file, number, bad->at ? bad->at->column : 1};
    return false;
  }));
  if (bad) return std::move(*bad);
  return {};
}

namespace {

Result<std::vector<RunRecord>> collect(const Lines& lines, const std::string& file) {
  std::vector<RunRecord> records;
  PASSNET_TRY_VOID(for_each_record(
      lines, file, [&](uint32_t, std::string_view, RunRecord record) { records.push_back(std::move(record)); }));
  return records;
}

}  // namespace

Result<std::vector<RunRecord>> records_from_text(std::string_view text, const std::string& file) {
  return collect(lines_of(text), file);
}

std::string to_lines(const std::vector<RunRecord>& records) {
  std::string lines;
  for (const RunRecord& one : records) lines += dump(to_json(one)) + "\n";
  return lines;
}

Result<std::vector<RunRecord>> load_records(const std::string& path) {
  return collect([&](const UseLine& use) { return for_each_line_of(path, use); }, path);
}

}  // namespace passnet::record
