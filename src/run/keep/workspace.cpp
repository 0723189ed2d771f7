#include "run/keep/workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/json/json.h"
#include "record/provenance.h"
#include "record/score/score.h"

namespace passnet::run {

Result<void> clear_workspace(const fs::path& directory) {
  for (const char* name : {kWorkspaceScore, kWorkspaceLog}) {
    std::error_code failed;
    fs::remove(directory / name, failed);
    if (failed) return io_error("remove", (directory / name).string(), failed.value());
  }
  return {};
}

Result<void> write_workspace(const fs::path& directory, const std::vector<record::RunRecord>& records,
                             const fs::path& run) {
  PASSNET_TRY_VOID(write_file(directory / kWorkspaceLog, record::render_upstream_log(records)));
  if (const auto failed = std::ranges::count_if(records, record::is_environment_failure);
      failed > 0 || records.empty()) {
    return resource_error(fmt::format("{} of {} graphs were not evaluated: {} gets no score", failed, records.size(),
                                      (directory / kWorkspaceScore).string()));
  }
  const record::Score score = record::score(record::judge_all(records));
  if (score.total == 0) return resource_error("no graph counts: there is no score").with_hint("the table says why");
  const Json json{{"id", 1},
                  {"score", score.passbench},
                  {"total", score.total},
                  {"correct", score.correct},
                  {"run", absolute_path(run).string()}};
  return write_file(directory / kWorkspaceScore, dump(json, 4) + "\n");
}

}  // namespace passnet::run
