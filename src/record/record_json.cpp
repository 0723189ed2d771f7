// RunRecord <-> JSON. docs/records.md describes the keys; change both together and raise kRecordVersion when
// old readers would misread what is written.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/json_object.h"
#include "base/strings.h"
#include "base/version.h"
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

template <>
struct JsonFields<record::Track> {
  static constexpr std::string_view kName = "track";
  static void visit(auto& field, auto& track) {
    field("clock", track.clock);
    field("inputs", track.inputs);
    field("cache", track.cache);
  }
};

template <>
struct JsonFields<record::TrackTimes> {
  static constexpr std::string_view kName = "track";
  static void visit(auto& field, auto& times) {
    JsonFields<record::Track>::visit(field, times.track);
    field("trials_us", times.trials_us);
  }
};

template <>
struct JsonFields<record::Timing> {
  static constexpr std::string_view kName = "timing";
  static void visit(auto& field, auto& timing) {
    // What only a GPU has is left out where it is not.
    field("warmup", timing.warmup);
    field("trials_us", timing.trials_us);
    field.if_set("track", timing.track);
    field.if_set("mode", timing.mode);
    field.if_set("baseline", timing.baseline);
    field.if_set("others", timing.others);
    field.if_set("sm_mhz", timing.sm_mhz);
    field.if_set("temperature_c", timing.temperature_c);
    field.if_set("blocks", timing.blocks);
  }
};

template <>
struct JsonFields<record::Load> {
  static constexpr std::string_view kName = "load";
  static void visit(auto& field, auto& load) {
    field("known", load.known);
    field("block_pairs", load.block_pairs);
    field("dropped_pairs", load.dropped_pairs);
    field("waiting_share", load.waiting_share);
    field("stolen_share", load.stolen_share);
    field("pressure_share", load.pressure_share);
    field("involuntary_switches", load.involuntary_switches);
  }
};

template <>
struct JsonFields<record::Floor> {
  static constexpr std::string_view kName = "floor";
  static void visit(auto& field, auto& floor) {
    field("bytes", floor.bytes);
    field("gb_per_s", floor.gb_per_s);
    field("us", floor.us);
  }
};

template <>
struct JsonFields<record::Control> {
  static constexpr std::string_view kName = "control";
  static void visit(auto& field, auto& control) {
    field("reference", control.reference);
    field("candidate", control.candidate);
    field("disturbed", control.disturbed);
  }
};

template <>
struct JsonFields<record::Tuned> {
  static constexpr std::string_view kName = "tuned launch";
  static void visit(auto& field, auto& tuned) {
    field("pass", tuned.pass);
    field("kernel", tuned.kernel);
    field("line", tuned.line);
    field("site", tuned.site);
    field("chosen", tuned.chosen);
    field("tried_us", tuned.tried_us);
  }
};

template <>
struct JsonFields<record::Profile::Launch> {
  static constexpr std::string_view kName = "profiled launch";
  static void visit(auto& field, auto& launch) {
    field("pass", launch.pass);
    field("kernel", launch.kernel);
    field("line", launch.line);
    field("site", launch.site);
    field("us", launch.us);
    field("bytes", launch.bytes);
    field("bound_us", launch.bound_us);
  }
};

template <>
struct JsonFields<record::Profile::Other> {
  static constexpr std::string_view kName = "profiled operator";
  static void visit(auto& field, auto& other) {
    field("statement", other.statement);
    field("us", other.us);
  }
};

template <>
struct JsonFields<record::Profile> {
  static constexpr std::string_view kName = "profile";
  static void visit(auto& field, auto& profile) {
    field("call_us", profile.call_us);
    field("launches", profile.launches);
    field("others", profile.others);
  }
};

template <>
struct JsonFields<record::SecondCandidate> {
  static constexpr std::string_view kName = "rival";
  static void visit(auto& field, auto& second) {
    field("name", second.name);
    field("problem", second.problem);
    field("passes_from", second.passes_from);
    field("reference", second.reference);
    field("candidate", second.candidate);
    field("disturbed", second.disturbed);
  }
};

template <>
struct JsonFields<record::Mismatch> {
  static constexpr std::string_view kName = "mismatch";
  static void visit(auto& field, auto& mismatch) {
    field("beyond", mismatch.beyond);
    field("different", mismatch.different);
    field("first", mismatch.first);
    field("expected", mismatch.expected);
    field("found", mismatch.found);
    field("where", mismatch.where);
    field("expected_nan", mismatch.expected_nan);
    field("found_nan", mismatch.found_nan);
    field("expected_inf", mismatch.expected_inf);
    field("found_inf", mismatch.found_inf);
  }
};

template <>
struct JsonFields<record::Layout> {
  static constexpr std::string_view kName = "layout";
  static void visit(auto& field, auto& layout) {
    field("strides", layout.strides);
    field("offset", layout.offset);
    field.if_set("shares", layout.shares);
  }
};

template <>
struct JsonFields<record::Errors> {
  static constexpr std::string_view kName = "errors";
  static void visit(auto& field, auto& errors) {
    field("norm", errors.norm);
    field("row", errors.row);
    field("ulp", errors.ulp);
    field("zeros", errors.zeros);
    field("misplaced", errors.misplaced);
  }
};

template <>
struct JsonFields<record::ErrorBudget> {
  static constexpr std::string_view kName = "error budget";
  static void visit(auto& field, auto& budget) {
    field("profile", budget.input_kind);
    field("eager", budget.eager);
    field("allowed", budget.allowed);
    field("found", budget.found);
  }
};

template <>
struct JsonFields<record::OutputCheck> {
  static constexpr std::string_view kName = "output check";
  static void visit(auto& field, auto& output) {
    field("expected_dtype", output.expected_dtype);
    field("found_dtype", output.found_dtype);
    field("expected_shape", output.expected_shape);
    field("found_shape", output.found_shape);
    field("equal", output.equal);
    field("passes_from", output.passes_from);
    field("max_abs_diff", output.max_abs_diff);
    field("mean_abs_diff", output.mean_abs_diff);
    field("max_rel_diff", output.max_rel_diff);
    field.if_set("mismatch", output.mismatch);
    field.if_set("expected_layout", output.expected_layout);
    field.if_set("found_layout", output.found_layout);
    field.if_set("budget", output.budget);
    field.if_set("checked_from", output.checked_from);
  }
};

template <>
struct JsonFields<record::InputCheck> {
  static constexpr std::string_view kName = "input check";
  static void visit(auto& field, auto& input) {
    field("name", input.name);
    JsonFields<record::OutputCheck>::visit(field, input.check);
  }
};

template <>
struct JsonFields<record::DeviceMemory> {
  static constexpr std::string_view kName = "device memory";
  static void visit(auto& field, auto& memory) {
    field("peak_bytes", memory.peak_bytes);
    field("kept_bytes", memory.kept_bytes);
  }
};

template <>
struct JsonFields<record::LibraryCall> {
  static constexpr std::string_view kName = "library call";
  static void visit(auto& field, auto& call) {
    field("name", call.name);
    field("line", call.line);
    field("count", call.count);
  }
};

template <>
struct JsonFields<record::PassOutcome> {
  static constexpr std::string_view kName = "pass outcome";
  static void visit(auto& field, auto& outcome) {
    field("pass", outcome.pass);
    field("matches", outcome.matches);
    field("declined", outcome.declined);
    field("diagnosis", outcome.diagnosis);
    field.if_set("idle", outcome.idle);
    field.if_set("library_calls", outcome.library_calls);
    field.if_set("replays", outcome.replays);
  }
};

template <>
struct JsonFields<record::SurplusPass> {
  static constexpr std::string_view kName = "surplus pass";
  static void visit(auto& field, auto& surplus) {
    field("pass", surplus.pass);
    field("reason", surplus.reason);
  }
};

template <>
struct JsonFields<record::RunOptions> {
  static constexpr std::string_view kName = "options";
  static void visit(auto& field, auto& options) {
    field("compiler", options.compiler);
    field("device", options.device);
    field("cuda_graph", options.cuda_graph);
    field("threads", options.threads);
    field("seed", options.seed);
    field("warmup", options.warmup);
    field("trials", options.trials);
    field("timeout_s", options.timeout_s);
    field("strict", options.strict);
    field.if_set("generalize", options.generalize);
    field.if_set("allow_library", options.allow_library);
    field.if_set("baseline", options.baseline);
    field.if_set("host_code", options.host_code);
    field.if_set("input_pass_dir", options.input_pass_dir);
    field.if_set("pass_order", options.pass_order);
    field.if_set("pass_pattern_limit", options.pass_pattern_limit);
    field.if_set("pass_replacement_func_limit", options.pass_function_limit);
    field.if_set("without", options.without);
  }
};

template <>
struct JsonFields<record::Provenance> {
  static constexpr std::string_view kName = "provenance";
  static void visit(auto& field, auto& provenance) {
    field("sample_path", provenance.sample_path);
    field.if_set("pass_dir", provenance.pass_dir);
    field("graph", provenance.graph);
    field("passes", provenance.passes);
    field("kernels", provenance.kernels);
    field.if_set("objects", provenance.objects);
    field.if_set("isolation", provenance.isolation);
    field.if_set("isolation_level", provenance.isolation_level);
    field("options", provenance.options);
    field("versions", provenance.versions);
  }
};

template <>
struct JsonFields<record::Link> {
  static constexpr std::string_view kName = "chain";
  static void visit(auto& field, auto& link) {
    field("number", link.number);
    field("previous", link.previous);
  }
};

template <>
struct JsonFields<record::RunRecord> {
  static constexpr std::string_view kName = "record";
  static void visit(auto& field, auto& record) {
    field("version", record.version);
    field.constant("passnet", kVersion);
    field("sample", record.sample);
    field("graph", record.graph);
    field("compiler", record.compiler);
    field("device", record.device);
    field("hardware", record.hardware);
    field("threads", record.threads);
    field("seed", record.seed);
    field.if_set("seed_given", record.seed_given);
    field.if_set("seed_nonce", record.seed_nonce);
    field("started", record.started);
    field("stage", record.stage);
    field("error_kind", record.error_kind);
    field("error", record.error);
    field.if_set("host_code", record.host_code);
    field.if_set("why_python", record.why_python);
    field("passes", record.passes);
    field.if_set("surplus", record.surplus);
    field("outputs_counted", record.outputs_counted);
    field("expected_outputs", record.expected_outputs);
    field("found_outputs", record.found_outputs);
    field("outputs", record.outputs);
    field.if_set("inputs", record.inputs);
    field.if_set("tuned", record.tuned);
    field.if_set("profiles", record.input_kinds);
    field.if_set("no_float64", record.no_float64);
    field.if_set("null_models", record.null_models);
    field.if_set("fixed_inputs", record.fixed_inputs);
    field.if_set("calls_compared", record.calls_compared);
    field("deterministic", record.deterministic);
    field("reference", record.reference);
    field("candidate", record.candidate);
    // Lines from before timing watched the machine's load lack these.
    field.may_lack("disturbed", record.disturbed);
    field.may_lack("load", record.load);
    field("evaluate_seconds", record.evaluate_seconds);
    field.if_set("floor", record.floor);
    field.if_set("control", record.control);
    field.if_set("profile", record.profile);
    field.if_set("rival", record.second_candidate);
    field.if_set("provenance", record.provenance);
    field.if_set("texts", record.texts);
    field.if_set("reference_memory", record.reference_memory);
    field.if_set("candidate_memory", record.candidate_memory);
    field.if_set("retried", record.retried);
    field.if_set("chain", record.chain);
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

Json to_json(const OutputCheck& output) { return to_json_object(output); }

Json to_json(const ErrorBudget& budget) { return to_json_object(budget); }
Result<ErrorBudget> budget_from_json(const Json& json) { return from_json_object<ErrorBudget>(json); }

Result<std::vector<OutputCheck>> output_checks_from_json(const Json& json) {
  return from_json_list<OutputCheck>(json, "output checks");
}

Json to_json(const std::vector<Layout>& layouts) {
  Json list = Json::array();
  for (const Layout& layout : layouts) list.push_back(to_json_object(layout));
  return list;
}

Result<std::vector<Layout>> layouts_from_json(const Json& json) { return from_json_list<Layout>(json, "layouts"); }

Json to_json(const RunRecord& record) { return to_json_object(record); }

Result<RunRecord> record_from_json(const Json& json) {
  if (auto error = check_version(json)) return std::move(*error);
  return from_json_object<RunRecord>(json);
}

}  // namespace passnet::record
