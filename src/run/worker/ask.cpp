#include "run/worker/ask.h"

#include <fmt/format.h>
#include <sys/stat.h>

namespace passnet::run {

Error nonsense(const std::string& what, const std::string& why) {
  return resource_error(fmt::format("the worker's answer to '{}' is not understood: {}", what, why))
      .with_failure("nonsense");
}

Result<Bundle> take_bundle(const char* key, const std::optional<IndirectJson>& entries, std::vector<UniqueFd>& fds) {
  const auto refuse = [&](const std::string& why) {
    return resource_error(fmt::format("the worker's '{}' are not a bundle of tensors: {}", key, why))
        .with_failure("nonsense");
  };
  if (fds.empty()) return refuse("no shared memory came with them");
  struct stat info {};
  if (::fstat(fds[0].get(), &info) != 0) return refuse("their shared memory has no size");
  if (!entries) return refuse("the field is missing");
  Result<std::vector<wire::Entry>> read = wire::entries_from_json(**entries, info.st_size);
  if (!read) return refuse(read.error().message);
  return Bundle{std::move(*read), std::move(fds[0]), info.st_size};
}

}  // namespace passnet::run
