#include "store/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "base/file/paths.h"
#include "run/batch/job.h"
#include "run/keep/load_records.h"
#include "run/keep/record_file.h"

namespace passnet::store {

namespace {

struct ReadFile {
  fs::path path;
  std::vector<Digest> digests;
};

Result<std::vector<Digest>> digests_in(const fs::path& file, const std::vector<record::SessionLine>& sessions) {
  std::vector<Digest> digests;
  PASSNET_TRY(const record::Chain chain, run::read_chain(file, sessions, [&](const record::RunRecord& record) {
                digests.push_back(digest_of(record));
              }));
  PASSNET_TRY_VOID(record::first_problem(chain));
  return digests;
}

/// Results of `passnet agent run` hold the records of each attempt, too: these are no results.
bool is_attempt(const fs::path& file, const fs::path& run) {
  const fs::path below = file.lexically_relative(run);
  return std::ranges::find(below, fs::path("evaluations")) != below.end();
}

fs::path directory_of_run(const fs::path& file) { return absolute_path(file).parent_path().parent_path(); }

}  // namespace

Result<void> read_digests(const fs::path& run, size_t threads, const UseDigests& use) {
  PASSNET_TRY(std::vector<fs::path> files, run::find_record_files(run));
  std::erase_if(files, [&](const fs::path& file) { return is_attempt(file, run); });
  std::map<fs::path, std::vector<record::SessionLine>> sessions;
  for (const fs::path& file : files) {
    const auto [place, is_new] = sessions.try_emplace(directory_of_run(file));
    if (is_new) {
      PASSNET_TRY(place->second, run::load_sessions(place->first));
    }
  }
  bool any = false;
  PASSNET_TRY_VOID(run::for_each_item(
      std::span(files), {.jobs = static_cast<int>(threads)},
      [&](const fs::path& file, size_t) -> Result<ReadFile> {
        PASSNET_TRY(auto digests, digests_in(file, sessions.at(directory_of_run(file))));
        return ReadFile{file, std::move(digests)};
      },
      [&](ReadFile read) {
        any = any || !read.digests.empty();
        return use(read.path, std::move(read.digests));
      }));
  if (!any) return bad_input(fmt::format("'{}' holds no finished record", run.string()));
  return {};
}

}  // namespace passnet::store
