// RunRecord <-> JSON. docs/records.md describes the keys; change both together and raise kRecordVersion when
// old readers would misread what is written.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/strings.h"
#include "bench/record.h"
#include "bench/utf8.h"

namespace passnet::bench {

namespace {

constexpr int kRecordVersion = 1;
constexpr std::array<const char*, 10> kStages = {"parse", "inputs", "reference", "match", "build",
                                                 "load",  "run",    "compare",   "time",  "done"};

Json number_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

std::string describe(const Json& json) {
  return fmt::format("{} {}", json.type_name(), quoted(dump(json), 40));
}

bool assign(const Json& json, std::string& out) {
  return json.is_string() && (out = json.get<std::string>(), true);
}
bool assign(const Json& json, bool& out) { return json.is_boolean() && (out = json.get<bool>(), true); }
bool assign(const Json& json, uint64_t& out) {
  return json.is_number_unsigned() && (out = json.get<uint64_t>(), true);
}
bool assign(const Json& json, int64_t& out) {
  if (json.is_number_unsigned() &&
      json.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return false;
  }
  return json.is_number_integer() && (out = json.get<int64_t>(), true);
}
bool assign(const Json& json, int& out) {
  int64_t wide = 0;
  if (!assign(json, wide) || wide < std::numeric_limits<int>::min() ||
      wide > std::numeric_limits<int>::max()) {
    return false;
  }
  out = static_cast<int>(wide);
  return true;
}
bool assign(const Json& json, double& out) {
  if (json.is_number()) return out = json.get<double>(), true;
  if (json == "nan") return out = std::numeric_limits<double>::quiet_NaN(), true;
  if (json == "inf") return out = std::numeric_limits<double>::infinity(), true;
  if (json == "-inf") return out = -std::numeric_limits<double>::infinity(), true;
  return false;
}
bool assign(const Json& json, Stage& out) {
  if (!json.is_string()) return false;
  for (size_t i = 0; i < kStages.size(); ++i) {
    if (json == kStages[i]) return out = static_cast<Stage>(i), true;
  }
  return false;
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
    if (!json.is_object())
      error_ = bad_input(fmt::format("{}: expected an object, found {}", what_, describe(json)));
  }
  template <class T>
  void read(const char* key, const char* expected, T& out) {
    const Json* field = find(key, expected);
    if (field && !assign(*field, out)) {
      error_ = bad_input(
          fmt::format("{}: field '{}': expected {}, found {}", what_, key, expected, describe(*field)));
    }
  }
  /// An array of objects, each read by `read_one`.
  template <class T>
  void read_each(const char* key, Result<T> (*read_one)(const Json&), std::vector<T>& out) {
    const Json* field = find(key, "an array of objects");
    if (!field) return;
    if (!field->is_array()) {
      error_ = bad_input(fmt::format("{}: field '{}': expected an array of objects, found {}", what_, key,
                                     describe(*field)));
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
  return json;
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
  return std::move(fields).finish(std::move(timing));
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

/// An object of another version is refused before its fields are looked at.
std::optional<Error> check_version(const Json& json) {
  const auto version = json.is_object() ? json.find("version") : json.end();
  if (!json.is_object() || version == json.end() || *version == kRecordVersion) return std::nullopt;
  const auto writer = json.find("passnet");
  const std::string written_by = writer != json.end() && writer->is_string()
                                     ? "passnet " + quoted(writer->get<std::string>())
                                     : std::string("an unnamed passnet");
  return bad_input(fmt::format("record version {} written by {}: expected version {}",
                               dump(*version), written_by,
                               kRecordVersion))
      .with_hint("read it with the passnet that wrote it, or evaluate again");
}

}  // namespace

const char* to_string(Stage stage) { return kStages.at(static_cast<size_t>(stage)); }

Json to_json(const OutputCheck& output) {
  return {{"expected_dtype", valid_utf8(output.expected_dtype)},
          {"found_dtype", valid_utf8(output.found_dtype)},
          {"expected_shape", output.expected_shape},
          {"found_shape", output.found_shape},
          {"equal", output.equal},
          {"passes_from", output.passes_from},
          {"max_abs_diff", number_json(output.max_abs_diff)},
          {"mean_abs_diff", number_json(output.mean_abs_diff)},
          {"max_rel_diff", number_json(output.max_rel_diff)}};
}

Result<std::vector<OutputCheck>> output_checks_from_json(const Json& json) {
  if (!json.is_array())
    return bad_input("output checks: expected an array of objects, found " + describe(json));
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
          {"passnet", PASSNET_VERSION},
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
          {"rounds", record.rounds},
          {"evaluate_seconds", number_json(record.evaluate_seconds)}};
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
  fields.read("rounds", "an integer", record.rounds);
  fields.read("evaluate_seconds", "a number", record.evaluate_seconds);
  if (json.contains("reference_memory")) fields.read_one("reference_memory", memory_from_json, record.reference_memory);
  if (json.contains("candidate_memory")) fields.read_one("candidate_memory", memory_from_json, record.candidate_memory);
  if (json.contains("retried")) fields.read("retried", "a string", record.retried);
  return std::move(fields).finish(std::move(record));
}

}  // namespace passnet::bench
