#include "runtime/device/object_bytes.h"

#include <fmt/format.h>

#include "base/file/file.h"
#include "base/hash.h"

namespace passnet::runtime {

Result<std::string> read_object(const pass::KernelFile& file, const std::string& kernel) {
  Result<std::string> bytes = read_file(file.object, FileKind::Object);
  if (!bytes) return bad_pass(fmt::format("cannot load kernel '{}': {}", kernel, bytes.error().message));
  if (!file.sha256.empty() && sha256_hex(*bytes) != file.sha256) {
    return bad_pass(fmt::format("cannot load kernel '{}': '{}' is not the object that was built for it", kernel,
                                file.object))
        .with_hint("somebody changed it after it was built; remove it, and it is built anew");
  }
  return bytes;
}

}  // namespace passnet::runtime
