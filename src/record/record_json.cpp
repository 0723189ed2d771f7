// RunRecord <-> JSON. docs/records.md describes the keys; change both together and raise kRecordVersion when
// old readers would misread what is written.
#include <fmt/format.h>

#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/json_fields.h"
#include "base/strings.h"
#include "base/version.h"
#include "record/record.h"
#include "record/utf8.h"

namespace passnet::record {

namespace {

constexpr int kRecordVersion = 1;
constexpr std::array<const char*, 10> kStages = {"parse", "inputs", "reference", "match", "build",
                                                 "load",  "run",    "compare",   "time",  "done"};

std::string describe(const Json& json) { return fmt::format("{} {}", json.type_name(), quoted(dump(json), 40)); }

bool assign(const Json& json, std::string& out) { return json.is_string() && (out = json.get<std::string>(), true); }
bool assign(const Json& json, bool& out) { return json.is_boolean() && (out = json.get<bool>(), true); }
bool assign(const Json& json, uint64_t& out) { return json.is_number_unsigned() && (out = json.get<uint64_t>(), true); }
bool assign(const Json& json, int64_t& out) {
  if (json.is_number_unsigned() && json.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return false;
  }
  return json.is_number_integer() && (out = json.get<int64_t>(), true);
}
bool assign(const Json& json, int& out) {
  int64_t wide = 0;
  if (!assign(json, wide) || wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    return false;
  }
  out = static_cast<int>(wide);
  return true;
}
bool assign(const Json& json, double& out) {
  const std::optional<double> number = read_number(json);
  return number && (out = *number, true);
}
bool assign(const Json& json, Stage& out) {
  if (!json.is_string()) return false;
  for (size_t i = 0; i < kStages.size(); ++i) {
    if (json == kStages[i]) return out = static_cast<Stage>(i), true;
  }
  return false;
}
bool assign(const Json& json, std::map<std::string, std::string>& out) {
  if (!json.is_object()) return false;
  for (const auto& [name, value] : json.items()) {
    if (!assign(value, out[name])) return false;
  }
  return true;
}
template <class T>
bool assign(const Json& json, std::vector<T>& out) {
  if (!json.is_array()) return false;
  out.resize(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    if (!assign(json[i], out[i])) return false;
  }
  return true;
}

/// Reads the fields of one object; keeps the first error, after which reads do nothing.
class Fields {
 public:
  Fields(const Json& json, std::string what) : json_(json), what_(std::move(what)) {
    if (!json.is_object()) error_ = bad_input(fmt::format("{}: expected an object, found {}", what_, describe(json)));
  }
  template <class T>
  void read(const char* key, const char* expected, T& out) {
    const Json* field = find(key, expected);
    if (field && !assign(*field, out)) {
      error_ = bad_input(fmt::format("{}: field '{}': expected {}, found {}", what_, key, expected, describe(*field)));
    }
  }
  /// An array of objects, each read by `read_one`.
  template <class T>
  void read_each(const char* key, Result<T> (*read_one)(const Json&), std::vector<T>& out) {
    const Json* field = find(key, "an array of objects");
    if (!field) return;
    if (!field->is_array()) {
      error_ = bad_input(
          fmt::format("{}: field '{}': expected an array of objects, found {}", what_, key, describe(*field)));
      return;
    }
    for (const Json& item : *field) {
      Result<T> one = read_one(item);
      if (!one) return keep(std::move(one).error());
      out.push_back(std::move(*one));
    }
  }
  template <class T>
  void read_one(const char* key, Result<T> (*read_object)(const Json&), T& out) {
    const Json* field = find(key, "an object");
    if (!field) return;
    Result<T> one = read_object(*field);
    if (!one) return keep(std::move(one).error());
    out = std::move(*one);
  }
  template <class T>
  Result<T> finish(T value) && {
    if (error_) return std::move(*error_);
    return value;
  }

 private:
  const Json* find(const char* key, const char* expected) {
    if (error_) return nullptr;
    const auto found = json_.find(key);
    if (found != json_.end()) return &*found;
    error_ = bad_input(fmt::format("{}: field '{}' is missing, expected {}", what_, key, expected));
    return nullptr;
  }
  void keep(Error error) { error_ = std::move(error); }

  const Json& json_;
  std::string what_;
  std::optional<Error> error_;
};

Json numbers_json(const std::vector<double>& values) {
  Json numbers = Json::array();
  for (const double value : values) numbers.push_back(number_json(value));
  return numbers;
}

Json track_json(const Track& track) {
  return {{"clock", valid_utf8(track.clock)}, {"inputs", valid_utf8(track.inputs)}, {"cache", valid_utf8(track.cache)}};
}

// What only a GPU has is left out where it is not.
Json timing_json(const Timing& timing) {
  Json json{{"warmup", timing.warmup}, {"trials_us", numbers_json(timing.trials_us)}};
  if (timing.track != Track{}) json["track"] = track_json(timing.track);
  if (!timing.mode.empty()) json["mode"] = valid_utf8(timing.mode);
  for (const TrackTimes& other : timing.others) {
    json["others"].push_back(track_json(other.track));
    json["others"].back()["trials_us"] = numbers_json(other.trials_us);
  }
  if (timing.sm_mhz != 0) json["sm_mhz"] = timing.sm_mhz;
  if (timing.temperature_c != 0) json["temperature_c"] = timing.temperature_c;
  if (!timing.blocks.empty()) json["blocks"] = timing.blocks;
  return json;
}

Json load_json(const Load& load) {
  return {{"known", load.known},
          {"block_pairs", load.block_pairs},
          {"dropped_pairs", load.dropped_pairs},
          {"waiting_share", number_json(load.waiting_share)},
          {"stolen_share", number_json(load.stolen_share)},
          {"pressure_share", number_json(load.pressure_share)},
          {"involuntary_switches", load.involuntary_switches}};
}

Json control_json(const Control& control) {
  return {{"reference", timing_json(control.reference)},
          {"candidate", timing_json(control.candidate)},
          {"disturbed", control.disturbed}};
}

Json profile_json(const Profile& profile) {
  Json launches = Json::array(), others = Json::array();
  for (const Profile::Launch& one : profile.launches) {
    launches.push_back({{"pass", valid_utf8(one.pass)},
                        {"kernel", valid_utf8(one.kernel)},
                        {"line", one.line},
                        {"site", one.site},
                        {"us", number_json(one.us)},
                        {"bytes", one.bytes},
                        {"bound_us", number_json(one.bound_us)}});
  }
  for (const Profile::Other& one : profile.others)
    others.push_back({{"statement", valid_utf8(one.statement)}, {"us", number_json(one.us)}});
  return {{"call_us", number_json(profile.call_us)}, {"launches", std::move(launches)}, {"others", std::move(others)}};
}

Json rival_json(const Rival& rival) {
  return {{"name", valid_utf8(rival.name)},
          {"problem", valid_utf8(rival.problem)},
          {"passes_from", rival.passes_from},
          {"reference", timing_json(rival.reference)},
          {"candidate", timing_json(rival.candidate)},
          {"disturbed", rival.disturbed}};
}

Json mismatch_json(const Mismatch& mismatch) {
  return {{"beyond", mismatch.beyond},
          {"different", mismatch.different},
          {"first", mismatch.first},
          {"expected", valid_utf8(mismatch.expected)},
          {"found", valid_utf8(mismatch.found)},
          {"where", valid_utf8(mismatch.where)},
          {"expected_nan", mismatch.expected_nan},
          {"found_nan", mismatch.found_nan},
          {"expected_inf", mismatch.expected_inf},
          {"found_inf", mismatch.found_inf}};
}

Result<Mismatch> mismatch_from_json(const Json& json) {
  Mismatch mismatch;
  Fields fields(json, "mismatch");
  fields.read("beyond", "an integer", mismatch.beyond);
  fields.read("different", "an integer", mismatch.different);
  fields.read("first", "an array of integers", mismatch.first);
  fields.read("expected", "a string", mismatch.expected);
  fields.read("found", "a string", mismatch.found);
  fields.read("where", "a string", mismatch.where);
  fields.read("expected_nan", "an integer", mismatch.expected_nan);
  fields.read("found_nan", "an integer", mismatch.found_nan);
  fields.read("expected_inf", "an integer", mismatch.expected_inf);
  fields.read("found_inf", "an integer", mismatch.found_inf);
  return std::move(fields).finish(std::move(mismatch));
}

Json memory_json(const DeviceMemory& memory) {
  return {{"peak_bytes", memory.peak_bytes}, {"kept_bytes", memory.kept_bytes}};
}

Result<DeviceMemory> memory_from_json(const Json& json) {
  DeviceMemory memory;
  Fields fields(json, "device memory");
  fields.read("peak_bytes", "an integer", memory.peak_bytes);
  fields.read("kept_bytes", "an integer", memory.kept_bytes);
  return std::move(fields).finish(std::move(memory));
}

Result<OutputCheck> output_check_from_json(const Json& json) {
  OutputCheck output;
  Fields fields(json, "output check");
  fields.read("expected_dtype", "a string", output.expected_dtype);
  fields.read("found_dtype", "a string", output.found_dtype);
  fields.read("expected_shape", "an array of integers", output.expected_shape);
  fields.read("found_shape", "an array of integers", output.found_shape);
  fields.read("equal", "true or false", output.equal);
  fields.read("passes_from", "an integer", output.passes_from);
  fields.read("max_abs_diff", "a number", output.max_abs_diff);
  fields.read("mean_abs_diff", "a number", output.mean_abs_diff);
  fields.read("max_rel_diff", "a number", output.max_rel_diff);
  if (json.is_object() && json.contains("mismatch"))
    fields.read_one("mismatch", mismatch_from_json, output.mismatch.emplace());
  return std::move(fields).finish(std::move(output));
}

Result<Track> track_from_json(const Json& json) {
  Track track;
  Fields fields(json, "track");
  fields.read("clock", "a string", track.clock);
  fields.read("inputs", "a string", track.inputs);
  fields.read("cache", "a string", track.cache);
  return std::move(fields).finish(std::move(track));
}

Result<TrackTimes> track_times_from_json(const Json& json) {
  TrackTimes times;
  PASSNET_TRY(times.track, track_from_json(json));
  Fields fields(json, "track");
  fields.read("trials_us", "an array of numbers", times.trials_us);
  return std::move(fields).finish(std::move(times));
}

Result<Timing> timing_from_json(const Json& json) {
  Timing timing;
  Fields fields(json, "timing");
  fields.read("warmup", "an integer", timing.warmup);
  fields.read("trials_us", "an array of numbers", timing.trials_us);
  if (json.contains("track")) fields.read_one("track", track_from_json, timing.track);
  if (json.contains("mode")) fields.read("mode", "a string", timing.mode);
  if (json.contains("others")) fields.read_each("others", track_times_from_json, timing.others);
  if (json.contains("sm_mhz")) fields.read("sm_mhz", "an integer", timing.sm_mhz);
  if (json.contains("temperature_c")) fields.read("temperature_c", "an integer", timing.temperature_c);
  if (json.contains("blocks")) fields.read("blocks", "an array of integers", timing.blocks);
  return std::move(fields).finish(std::move(timing));
}

Result<Load> load_from_json(const Json& json) {
  Load load;
  Fields fields(json, "load");
  fields.read("known", "true or false", load.known);
  fields.read("block_pairs", "an integer", load.block_pairs);
  fields.read("dropped_pairs", "an integer", load.dropped_pairs);
  fields.read("waiting_share", "a number", load.waiting_share);
  fields.read("stolen_share", "a number", load.stolen_share);
  fields.read("pressure_share", "a number", load.pressure_share);
  fields.read("involuntary_switches", "an integer", load.involuntary_switches);
  return std::move(fields).finish(std::move(load));
}

Result<Control> control_from_json(const Json& json) {
  Control control;
  Fields fields(json, "control");
  fields.read_one("reference", timing_from_json, control.reference);
  fields.read_one("candidate", timing_from_json, control.candidate);
  fields.read("disturbed", "true or false", control.disturbed);
  return std::move(fields).finish(std::move(control));
}

Result<Profile::Launch> launch_from_json(const Json& json) {
  Profile::Launch launch;
  Fields fields(json, "profiled launch");
  fields.read("pass", "a string", launch.pass);
  fields.read("kernel", "a string", launch.kernel);
  fields.read("line", "an integer", launch.line);
  fields.read("site", "an integer", launch.site);
  fields.read("us", "a number", launch.us);
  fields.read("bytes", "an integer", launch.bytes);
  fields.read("bound_us", "a number", launch.bound_us);
  return std::move(fields).finish(std::move(launch));
}

Result<Profile::Other> other_from_json(const Json& json) {
  Profile::Other other;
  Fields fields(json, "profiled operator");
  fields.read("statement", "a string", other.statement);
  fields.read("us", "a number", other.us);
  return std::move(fields).finish(std::move(other));
}

Result<Profile> profile_from_json(const Json& json) {
  Profile profile;
  Fields fields(json, "profile");
  fields.read("call_us", "a number", profile.call_us);
  fields.read_each("launches", launch_from_json, profile.launches);
  fields.read_each("others", other_from_json, profile.others);
  return std::move(fields).finish(std::move(profile));
}

Result<Rival> rival_from_json(const Json& json) {
  Rival rival;
  Fields fields(json, "rival");
  fields.read("name", "a string", rival.name);
  fields.read("problem", "a string", rival.problem);
  fields.read("passes_from", "an integer", rival.passes_from);
  fields.read_one("reference", timing_from_json, rival.reference);
  fields.read_one("candidate", timing_from_json, rival.candidate);
  fields.read("disturbed", "true or false", rival.disturbed);
  return std::move(fields).finish(std::move(rival));
}

Json pass_json(const PassOutcome& pass) {
  return {{"pass", valid_utf8(pass.pass)},
          {"matches", pass.matches},
          {"declined", pass.declined},
          {"diagnosis", valid_utf8(pass.diagnosis)}};
}

Result<PassOutcome> pass_from_json(const Json& json) {
  PassOutcome pass;
  Fields fields(json, "pass outcome");
  fields.read("pass", "a string", pass.pass);
  fields.read("matches", "an integer", pass.matches);
  fields.read("declined", "an integer", pass.declined);
  fields.read("diagnosis", "a string", pass.diagnosis);
  return std::move(fields).finish(std::move(pass));
}

Json texts_json(const std::map<std::string, std::string>& texts) {
  Json json = Json::object();
  for (const auto& [name, text] : texts) json[valid_utf8(name)] = valid_utf8(text);
  return json;
}

Json options_json(const RunOptions& options) {
  return {{"compiler", valid_utf8(options.compiler)},
          {"device", valid_utf8(options.device)},
          {"cuda_graph", valid_utf8(options.cuda_graph)},
          {"threads", options.threads},
          {"seed", options.seed},
          {"warmup", options.warmup},
          {"trials", options.trials},
          {"timeout_s", number_json(options.timeout_s)},
          {"strict", options.strict}};
}

Json provenance_json(const Provenance& provenance) {
  return {{"sample_path", valid_utf8(provenance.sample_path)}, {"graph", texts_json(provenance.graph)},
          {"passes", texts_json(provenance.passes)},           {"kernels", texts_json(provenance.kernels)},
          {"options", options_json(provenance.options)},       {"versions", texts_json(provenance.versions)}};
}

Result<RunOptions> options_from_json(const Json& json) {
  RunOptions options;
  Fields fields(json, "options");
  fields.read("compiler", "a string", options.compiler);
  fields.read("device", "a string", options.device);
  fields.read("cuda_graph", "a string", options.cuda_graph);
  fields.read("threads", "an integer", options.threads);
  fields.read("seed", "an integer >= 0", options.seed);
  fields.read("warmup", "an integer", options.warmup);
  fields.read("trials", "an integer", options.trials);
  fields.read("timeout_s", "a number", options.timeout_s);
  fields.read("strict", "true or false", options.strict);
  return std::move(fields).finish(std::move(options));
}

Result<Provenance> provenance_from_json(const Json& json) {
  Provenance provenance;
  Fields fields(json, "provenance");
  fields.read("sample_path", "a string", provenance.sample_path);
  fields.read("graph", "an object of strings", provenance.graph);
  fields.read("passes", "an object of strings", provenance.passes);
  fields.read("kernels", "an object of strings", provenance.kernels);
  fields.read_one("options", options_from_json, provenance.options);
  fields.read("versions", "an object of strings", provenance.versions);
  return std::move(fields).finish(std::move(provenance));
}

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

Json to_json(const OutputCheck& output) {
  Json json{{"expected_dtype", valid_utf8(output.expected_dtype)},
            {"found_dtype", valid_utf8(output.found_dtype)},
            {"expected_shape", output.expected_shape},
            {"found_shape", output.found_shape},
            {"equal", output.equal},
            {"passes_from", output.passes_from},
            {"max_abs_diff", number_json(output.max_abs_diff)},
            {"mean_abs_diff", number_json(output.mean_abs_diff)},
            {"max_rel_diff", number_json(output.max_rel_diff)}};
  if (output.mismatch) json["mismatch"] = mismatch_json(*output.mismatch);
  return json;
}

Result<std::vector<OutputCheck>> output_checks_from_json(const Json& json) {
  if (!json.is_array()) return bad_input("output checks: expected an array of objects, found " + describe(json));
  std::vector<OutputCheck> outputs;
  for (const Json& item : json) {
    PASSNET_TRY(outputs.emplace_back(), output_check_from_json(item));
  }
  return outputs;
}

std::string describe(const Track& track) {
  return fmt::format("{} clock, {} tensors, {} cache", track.clock, track.inputs, track.cache);
}

Json to_json(const RunRecord& record) {
  Json passes = Json::array(), outputs = Json::array();
  for (const PassOutcome& pass : record.passes) passes.push_back(pass_json(pass));
  for (const OutputCheck& output : record.outputs) outputs.push_back(to_json(output));
  Json json{{"version", record.version},
            {"passnet", kVersion},
            {"sample", valid_utf8(record.sample)},
            {"graph", valid_utf8(record.graph)},
            {"compiler", valid_utf8(record.compiler)},
            {"device", valid_utf8(record.device)},
            {"hardware", valid_utf8(record.hardware)},
            {"threads", record.threads},
            {"seed", record.seed},
            {"started", valid_utf8(record.started)},
            {"stage", to_string(record.stage)},
            {"error_kind", valid_utf8(record.error_kind)},
            {"error", valid_utf8(record.error)},
            {"passes", std::move(passes)},
            {"outputs_counted", record.outputs_counted},
            {"expected_outputs", record.expected_outputs},
            {"found_outputs", record.found_outputs},
            {"outputs", std::move(outputs)},
            {"deterministic", record.deterministic},
            {"reference", timing_json(record.reference)},
            {"candidate", timing_json(record.candidate)},
            {"disturbed", record.disturbed},
            {"load", load_json(record.load)},
            {"evaluate_seconds", number_json(record.evaluate_seconds)}};
  if (record.control) json["control"] = control_json(*record.control);
  if (record.profile) json["profile"] = profile_json(*record.profile);
  if (record.rival) json["rival"] = rival_json(*record.rival);
  if (record.provenance) json["provenance"] = provenance_json(*record.provenance);
  if (record.reference_memory != DeviceMemory{}) json["reference_memory"] = memory_json(record.reference_memory);
  if (record.candidate_memory != DeviceMemory{}) json["candidate_memory"] = memory_json(record.candidate_memory);
  if (!record.retried.empty()) json["retried"] = valid_utf8(record.retried);
  return json;
}

Result<RunRecord> record_from_json(const Json& json) {
  if (auto error = check_version(json)) return std::move(*error);
  RunRecord record;
  Fields fields(json, "record");
  fields.read("version", "an integer", record.version);
  fields.read("sample", "a string", record.sample);
  fields.read("graph", "a string", record.graph);
  fields.read("compiler", "a string", record.compiler);
  fields.read("device", "a string", record.device);
  fields.read("hardware", "a string", record.hardware);
  fields.read("threads", "an integer", record.threads);
  fields.read("seed", "an integer >= 0", record.seed);
  fields.read("started", "a string", record.started);
  fields.read("stage", "the name of a stage", record.stage);
  fields.read("error_kind", "a string", record.error_kind);
  fields.read("error", "a string", record.error);
  fields.read_each("passes", pass_from_json, record.passes);
  fields.read("outputs_counted", "true or false", record.outputs_counted);
  fields.read("expected_outputs", "an integer", record.expected_outputs);
  fields.read("found_outputs", "an integer", record.found_outputs);
  fields.read_each("outputs", output_check_from_json, record.outputs);
  fields.read("deterministic", "true or false", record.deterministic);
  fields.read_one("reference", timing_from_json, record.reference);
  fields.read_one("candidate", timing_from_json, record.candidate);
  // Lines from before timing watched the machine's load lack these.
  if (json.contains("disturbed")) fields.read("disturbed", "true or false", record.disturbed);
  if (json.contains("load")) fields.read_one("load", load_from_json, record.load);
  if (json.contains("control")) fields.read_one("control", control_from_json, record.control.emplace());
  if (json.contains("profile")) fields.read_one("profile", profile_from_json, record.profile.emplace());
  if (json.contains("rival")) fields.read_one("rival", rival_from_json, record.rival.emplace());
  fields.read("evaluate_seconds", "a number", record.evaluate_seconds);
  if (json.is_object() && json.contains("provenance"))
    fields.read_one("provenance", provenance_from_json, record.provenance.emplace());
  if (json.contains("reference_memory")) fields.read_one("reference_memory", memory_from_json, record.reference_memory);
  if (json.contains("candidate_memory")) fields.read_one("candidate_memory", memory_from_json, record.candidate_memory);
  if (json.contains("retried")) fields.read("retried", "a string", record.retried);
  return std::move(fields).finish(std::move(record));
}

}  // namespace passnet::record
