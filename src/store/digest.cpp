#include "store/digest.h"

#include <algorithm>

#include "base/text/strings.h"
#include "record/stats.h"

namespace passnet::store {

namespace {

constexpr size_t kLongestReason = 200;

std::string dtype_of(const record::RunRecord& record) {
  const auto floating = std::ranges::find_if(record.outputs, [](const record::OutputCheck& output) {
    return output.expected_dtype.find("float") != std::string::npos;
  });
  if (floating != record.outputs.end()) return floating->expected_dtype;
  return record.outputs.empty() ? "" : record.outputs.front().expected_dtype;
}

std::string isolation_of(const record::RunRecord& record) {
  if (!record.provenance) return "";
  const record::Provenance& made_of = *record.provenance;
  if (made_of.isolation_level) return std::string(to_string(*made_of.isolation_level));
  return made_of.isolation.empty() ? "" : std::string(to_string(record::isolation_of(made_of.isolation)));
}

std::string version_of(const record::RunRecord& record) {
  if (!record.provenance) return "";
  const auto found = record.provenance->versions.find("passnet");
  return found == record.provenance->versions.end() ? "" : found->second;
}

}  // namespace

Digest digest_of(const record::RunRecord& record) {
  Digest digest;
  digest.compared = record::compared_record(record);
  digest.left_out = record::left_out(record);
  digest.counted = record::counted(record);
  digest.compiler = record.compiler;
  digest.device = record.device;
  digest.hardware = record.hardware;
  digest.isolation = isolation_of(record);
  digest.version = version_of(record);
  digest.started = record.started;
  digest.kind = record.kind;
  digest.dtype = dtype_of(record);
  digest.reason = first_line(record.error).substr(0, kLongestReason);
  if (record::times_valid(record.reference) && record::times_valid(record.candidate)) {
    digest.reference_us = record::summarize(record.reference.trials_us).median;
    digest.candidate_us = record::summarize(record.candidate.trials_us).median;
  }
  if (record.floor) digest.limit = record::limit_of(*record.floor);
  for (const record::OutputCheck& output : record.outputs) {
    if (!(output.max_abs_diff <= digest.max_error)) digest.max_error = output.max_abs_diff;
  }
  digest.passes_from = digest.counted.verdict.passes_from;
  digest.seconds = record.evaluate_seconds;
  return digest;
}

double limit_share(const Digest& digest) {
  return digest.limit && digest.candidate_us > 0 ? digest.limit->us / digest.candidate_us : 0;
}

}  // namespace passnet::store
