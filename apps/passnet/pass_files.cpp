#include "pass_files.h"

#include <chrono>

#include "command.h"
#include "options.h"
#include "run/pattern_names.h"

namespace passnet::cli {

Result<std::vector<pass::Pass>> load_named_passes(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(path)) {
    const bool is_sample = std::filesystem::is_directory(path / "pass_dir");
    PASSNET_TRY(files, pass::list_passes(is_sample ? path / "pass_dir" : path));
  } else {
    files.push_back(path);
  }
  std::vector<pass::Pass> passes;
  for (const std::filesystem::path& file : files) {
    PASSNET_TRY(pass::Pass loaded, pass::load_pass(file));
    passes.push_back(std::move(loaded));
  }
  return passes;
}

Result<void> check_names(const std::vector<pass::Pass>& passes) {
  run::Worker worker({{}, run::Role::Reference, 1, &interrupted(), {}});
  const std::chrono::milliseconds timeout(static_cast<int64_t>(kDefaultTimeoutS * 1000));
  if (run::Answer<void> checked = run::check_pattern_names(passes, worker, timeout); !checked) return checked.error().error;
  return {};
}

}  // namespace passnet::cli
