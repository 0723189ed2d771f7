#include "pass_commands/files.h"

#include <chrono>

#include "command.h"
#include "options.h"
#include "run/apply/pattern_names.h"

namespace passnet::cli {

Result<void> check_names(const std::vector<pass::Pass>& passes) {
  run::Worker worker({{}, run::Role::Reference, 1, &interrupted(), {}});
  const std::chrono::milliseconds timeout(static_cast<int64_t>(kDefaultTimeoutS * 1000));
  return run::check_pattern_names(passes, worker, timeout);
}

}  // namespace passnet::cli
