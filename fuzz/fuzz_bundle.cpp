// Any bytes as a bundle: an error with a message and the file, or parts that are all there.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/file/file.h"
#include "bundle/bundle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace passnet;
  const UniqueFd file(::memfd_create("bundle", MFD_CLOEXEC));
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!file || !write_all(file.get(), bytes, "the bundle")) return 0;
  const auto read = bundle::read("/proc/self/fd/" + std::to_string(file.get()));
  if (!read) {
    if (read.error().message.empty() || !read.error().at) std::abort();
    return 0;
  }
  if (read->find(bundle::kModel) == nullptr) std::abort();
  size_t all = 0;
  for (const wire::Entry& part : read->file.entries) all += read->bytes(part).size();
  if (all > size) std::abort();
  return 0;
}
