#include "author/search/known.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/hash.h"
#include "base/json/json_object.h"
#include "base/log.h"

namespace passnet {

PASSNET_JSON_FIELDS(author::Schedule, "schedule",
                    PASSNET_FIELDS(row_threads, pack_threads, split_blocks, split_share, tasks, task_work, tiles))
PASSNET_JSON_FIELDS(author::KnownSchedule, "known schedule", PASSNET_FIELDS(hardware, structure, schedule))

}  // namespace passnet

namespace passnet::author {

namespace {

// Numbers of a plan beyond these would be nonsense, and might overflow.
constexpr int64_t kLargest = int64_t{1} << 30;

std::filesystem::path file_of(const std::string& hardware, const std::string& structure) {
  return passnet_home() / "schedules" / (sha256_hex(hardware + "\n" + structure).substr(0, 32) + ".json");
}

bool is_usable(const Schedule& schedule) {
  const auto fits = [](int64_t number, int64_t least) { return number >= least && number <= kLargest; };
  return fits(schedule.row_threads, 1) && fits(schedule.pack_threads, 1) && fits(schedule.split_blocks, 0) &&
         fits(schedule.split_share, 1) && fits(schedule.tasks, 1) && fits(schedule.task_work, 2);
}

Result<Schedule> read_schedule(const std::filesystem::path& file, const std::string& hardware,
                               const std::string& structure) {
  PASSNET_TRY(const std::string text, read_file(file, FileKind::Settings));
  PASSNET_TRY(const Json json, parse_json(text, file.string()));
  PASSNET_TRY(const KnownSchedule read, from_json_object<KnownSchedule>(json));
  if (read.hardware != hardware || read.structure != structure || !is_usable(read.schedule))
    return bad_input(fmt::format("'{}' is no schedule of structure {} on {}", file.string(), structure, hardware));
  return read.schedule;
}

}  // namespace

std::optional<Schedule> load_schedule(const std::string& hardware, const std::string& structure) {
  const std::filesystem::path file = file_of(hardware, structure);
  if (!path_exists(file)) return std::nullopt;
  Result<Schedule> read = read_schedule(file, hardware, structure);
  if (read) return *read;
  log::warn(fmt::format("{}; schedules of this structure are measured anew", read.error().message));
  return std::nullopt;
}

Result<void> store_schedule(const KnownSchedule& known) {
  return write_file(file_of(known.hardware, known.structure), dump(to_json_object(known)) + "\n");
}

}  // namespace passnet::author
