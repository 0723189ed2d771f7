#include "ship/target_builder.h"

#include <chrono>

#include "bundle/target.h"
#include "run/worker/requests.h"

namespace passnet::ship {

namespace {

constexpr std::chrono::seconds kTimeout{120};  // of a request

}  // namespace

TargetBuilder::TargetBuilder(const std::atomic<bool>& interrupted)
    : interrupted_(&interrupted), worker_({{}, run::Role::Reference, 1, &interrupted, {}}) {}

Result<TargetBuilder> TargetBuilder::start(const std::atomic<bool>& interrupted) {
  TargetBuilder made(interrupted);
  PASSNET_TRY_VOID(made.worker_.start());
  PASSNET_TRY_VOID(run::start_up(made.worker_));
  return made;
}

Result<run::GraphBuild> TargetBuilder::build(const std::filesystem::path& graph, const std::vector<pass::Pass>& passes,
                                             const std::string& target) {
  PASSNET_TRY(const std::string architecture, bundle::architecture_of(target));
  run::PassRunOptions how;
  how.timeout = kTimeout;
  how.on_gpu = bundle::is_gpu(target);
  how.build.interrupted = interrupted_;
  return run::build_graph(worker_, graph, passes, how, architecture);
}

}  // namespace passnet::ship
