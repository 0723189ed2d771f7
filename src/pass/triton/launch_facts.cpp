#include "pass/triton/launch_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json/json_object.h"

namespace passnet {

namespace pass {
namespace {

constexpr int64_t kTensorColumns = 512;              // of tensor memory
constexpr int64_t kScratchBytes = int64_t{1} << 20;  // of one block
constexpr int64_t kScratchAlign = 4096;
constexpr size_t kMostScratch = 2;  // "global" and "profile"
constexpr int64_t kWarpThreads = 32, kMaxThreads = 1024;

struct SharedMemory {
  int capability;
  int64_t bytes;  // that one block may have
};
/// CUDA's programming guide, "technical specifications per compute capability".
constexpr SharedMemory kSharedMemory[] = {{70, 98304},  {72, 98304},  {75, 65536},  {80, 166912},
                                          {86, 101376}, {87, 166912}, {89, 101376}, {120, 101376}};
constexpr int64_t kSharedBytes = 232448;  // of all others: 9.0, 10.0 and 10.3

int64_t shared_memory_of(int capability) {
  for (const SharedMemory& known : kSharedMemory) {
    if (known.capability == capability) return known.bytes;
  }
  return kSharedBytes;
}

/// The first line of an answer.
struct Facts {
  std::string entry;
  int64_t warps = 0, cluster = 0, shared_bytes = 0, tensor_columns = 0;
  std::vector<TritonLaunch::Scratch> scratch;
};

/// Whether a GPU can be asked for such a launch at all.
bool possible(const TritonLaunch& launch) {
  for (const TritonLaunch::Scratch& scratch : launch.scratch) {
    if (scratch.bytes < 0 || scratch.bytes > kScratchBytes || !is_power_of_two(scratch.align) ||
        scratch.align > kScratchAlign)
      return false;
  }
  return launch.scratch.size() <= kMostScratch && launch.threads >= kWarpThreads && launch.threads <= kMaxThreads &&
         launch.threads % kWarpThreads == 0 && launch.shared_bytes >= 0 && launch.shared_bytes <= kSharedBytes &&
         is_power_of_two(launch.cluster) && launch.cluster <= 16;
}

/// The parameters that are not folded into the code, by index.
std::vector<uint32_t> arguments_of(const TritonRequest& request) {
  std::vector<uint32_t> arguments;
  for (uint32_t i = 0; i < request.parameters.size(); ++i) {
    if (!request.parameters[i].type.empty()) arguments.push_back(i);
  }
  return arguments;
}

/// Whether PTX takes those arguments, and behind them `scratch` pointers.
bool takes(const PtxEntry& ptx, const std::vector<uint32_t>& arguments, size_t scratch, const TritonRequest& request) {
  if (ptx.parameters.size() != arguments.size() + scratch) return false;
  for (size_t i = 0; i < ptx.parameters.size(); ++i) {
    const int64_t bytes = i < arguments.size() ? *argument_bytes(request.parameters[arguments[i]].type) : 8;
    if (ptx.parameters[i] != bytes) return false;
  }
  return true;
}

}  // namespace
}  // namespace pass

PASSNET_JSON_FIELDS(pass::TritonLaunch::Scratch, "scratch", PASSNET_FIELDS(bytes, align))
PASSNET_JSON_FIELDS(pass::Facts, "answer", PASSNET_FIELDS(entry, warps, cluster, shared_bytes, tensor_columns, scratch))
PASSNET_JSON_FIELDS(pass::TritonLaunch, "launch", PASSNET_FIELDS(arguments, scratch, threads, shared_bytes, cluster))
PASSNET_JSON_FIELDS(pass::TritonKernel, "kernel", PASSNET_FIELDS(entry) PASSNET_FIELDS_OF(launch))

namespace pass {

Result<TritonKernel> read_launch_facts(const std::string& text, const PtxEntry& ptx, const TritonRequest& request) {
  const auto refuse = [&](const std::string& what) {
    return bad_pass(fmt::format("kernel '{}' {}", request.kernel, what), request.at);
  };
  const Result<Json> json = parse_json(text, "answer");
  const Result<Facts> facts = json ? from_json_object<Facts>(*json) : Result<Facts>(json.error());
  if (!facts) return refuse("answers for Triton: " + facts.error().message);
  const int capability = *capability_of(request.architecture);
  if (const int64_t most = shared_memory_of(capability); facts->shared_bytes > most)
    return refuse(fmt::format("needs {} bytes of shared memory, a block on {} may have {}", facts->shared_bytes,
                              request.architecture, most))
        .with_hint("use smaller blocks or a smaller num_stages");
  if (facts->tensor_columns > kTensorColumns)
    return refuse(fmt::format("needs {} columns of tensor memory, a GPU has {}", facts->tensor_columns, kTensorColumns))
        .with_hint("use smaller blocks");
  TritonKernel kernel;
  kernel.entry = facts->entry;
  kernel.launch.arguments = arguments_of(request);
  const size_t left = ptx.parameters.size() - std::min(ptx.parameters.size(), kernel.launch.arguments.size());
  kernel.launch.scratch.assign(facts->scratch.begin(), facts->scratch.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                                    left, facts->scratch.size())));
  kernel.launch.threads = facts->warps >= 1 && facts->warps <= kMaxThreads ? facts->warps * kWarpThreads : 0;
  kernel.launch.shared_bytes = facts->shared_bytes;
  kernel.launch.cluster = facts->cluster;
  if (!possible(kernel.launch)) return refuse("answers for Triton: its launch is one that no GPU has");
  if (ptx.name != kernel.entry || !ptx.target.starts_with(request.architecture) ||
      ptx.target.size() > request.architecture.size() + 1 || ptx.threads != kernel.launch.threads ||
      !takes(ptx, kernel.launch.arguments, kernel.launch.scratch.size(), request))
    return refuse("has PTX that is not that of its signature");
  return kernel;
}

std::string to_text(const TritonKernel& kernel) { return dump(to_json_object(kernel)); }

Result<TritonKernel> triton_kernel_from_text(const std::string& text, const TritonRequest& request) {
  PASSNET_TRY(const Json json, parse_json(text, "kept kernel"));
  PASSNET_TRY(TritonKernel kernel, from_json_object<TritonKernel>(json));
  if (!possible(kernel.launch) || kernel.launch.arguments != arguments_of(request))
    return bad_input("kept kernel: not of this request");
  return kernel;
}

}  // namespace pass
}  // namespace passnet
