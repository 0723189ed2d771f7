#include "base/shard.h"

#include <fmt/format.h>

#include <optional>

#include "base/hash.h"
#include "base/text/parse_number.h"
#include "base/text/strings.h"

namespace passnet {

namespace {

constexpr int kMostShards = 1000000;

std::optional<int> number_in(std::string_view text) {
  const std::optional<int> number = parse_number<int>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

Error no_shard(const std::string& found) {
  return bad_input(fmt::format("found {}, expected I/N with I from 1 to N, auto or auto/N", found));
}

// Slurm numbers the tasks of an array from SLURM_ARRAY_TASK_MIN on, by steps.
Result<Shard> shard_of_slurm(const Environment& environment) {
  const auto number = [&](const char* name) { return number_in(environment(name)); };
  const std::optional<int> id = number("SLURM_ARRAY_TASK_ID"), count = number("SLURM_ARRAY_TASK_COUNT"),
                           first = number("SLURM_ARRAY_TASK_MIN");
  const int step = number("SLURM_ARRAY_TASK_STEP").value_or(1);
  if (!id || !count || !first || step < 1 || *id < *first)
    return bad_input("auto: found SLURM_ARRAY_TASK_ID without its COUNT or MIN, expected all three");
  const Shard shard{(*id - *first) / step + 1, *count};
  if ((*id - *first) % step == 0 && shard.index <= shard.count) return shard;
  return bad_input(fmt::format("auto: found task {} in an array of {} from {} on, expected one with equal steps", *id,
                               *count, *first))
      .with_hint("give --shard I/N for tasks that are run again by themselves");
}

Result<Shard> shard_of_environment(std::optional<int> count, const Environment& environment) {
  if (!environment("SLURM_ARRAY_TASK_ID").empty()) {
    PASSNET_TRY(const Shard shard, shard_of_slurm(environment));
    if (!count || *count == shard.count) return shard;
    return bad_input(fmt::format("auto/{}: found an array of {} tasks in SLURM_ARRAY_TASK_COUNT", *count, shard.count));
  }
  const std::optional<int> index = number_in(environment("JOB_COMPLETION_INDEX"));
  if (!index)
    return bad_input("auto: found no SLURM_ARRAY_TASK_ID and no JOB_COMPLETION_INDEX, expected one of them")
        .with_hint("give --shard I/N outside of an array of jobs");
  if (!count) return bad_input("auto: found JOB_COMPLETION_INDEX, which tells no number of jobs, expected auto/N");
  return Shard{*index + 1, *count};
}

}  // namespace

bool Shard::holds(std::string_view name) const {
  if (is_whole()) return true;
  return fast_hash(name.data(), name.size()) % static_cast<uint64_t>(count) == static_cast<uint64_t>(index - 1);
}

std::string to_string(const Shard& shard) { return fmt::format("{}/{}", shard.index, shard.count); }

Result<Shard> parse_shard(std::string_view text, const Environment& environment) {
  const size_t slash = text.find('/');
  const std::string_view head = text.substr(0, slash);
  std::optional<int> count;
  if (slash != text.npos) {
    count = number_in(text.substr(slash + 1));
    if (!count || *count < 1 || *count > kMostShards) return no_shard(quoted(text, 40));
  }
  Shard shard;
  if (head == "auto") {
    PASSNET_TRY(shard, shard_of_environment(count, environment));
  } else {
    const std::optional<int> index = number_in(head);
    if (!index || !count) return no_shard(quoted(text, 40));
    shard = {*index, *count};
  }
  if (shard.index < 1 || shard.index > shard.count) return no_shard(quoted(to_string(shard)));
  return shard;
}

}  // namespace passnet
