#include "run/worker/gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file/paths.h"

namespace passnet::run {

namespace {

/// Of /dev/nvidia0, /dev/nvidia1, …
int device_files() {
  int count = 0;
  std::error_code failed;
  for (auto entry = std::filesystem::directory_iterator("/dev", failed); !failed && entry != end(entry);
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    constexpr std::string_view kPrefix = "nvidia";
    if (name.starts_with(kPrefix) && name.size() > kPrefix.size() &&
        std::ranges::all_of(name.substr(kPrefix.size()), [](char c) { return c >= '0' && c <= '9'; }))
      ++count;
  }
  return count;
}

}  // namespace

Result<void> require_gpus(int first, int count) {
  if (path_exists("/dev/dxg")) return {};  // WSL has no file per device
  if (!path_exists("/dev/nvidiactl")) {
    return resource_error("no CUDA driver: there is no '/dev/nvidiactl'")
        .with_hint("--device cpu; 'passnet doctor' says what this machine has");
  }
  // None can be made as well: then the driver says.
  if (const int found = device_files(); found > 0 && first + count > found) {
    return resource_error(
               fmt::format("cuda:{} cannot be used: found {} of NVIDIA's devices in /dev, expected at least {}",
                           first + count - 1, found, first + count))
        .with_hint("--device cuda:N, with --jobs devices from it on; 'passnet doctor' says what this machine has");
  }
  return {};
}

}  // namespace passnet::run
