#include "runtime/cpu/cell/sealed_object.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>

#include "base/hash.h"

namespace passnet::runtime {

Result<UniqueFd> seal_object(const KernelFile& file, const std::string& kernel) {
  const Result<std::string> bytes = read_file(file.object, FileKind::Object);
  if (!bytes) return bad_pass(fmt::format("cannot load kernel '{}': {}", kernel, bytes.error().message));
  if (!file.sha256.empty() && sha256_hex(*bytes) != file.sha256) {
    return bad_pass(fmt::format("cannot load kernel '{}': '{}' is not the object that was built for it", kernel,
                                file.object))
        .with_hint("somebody changed it after it was built; remove it, and it is built anew");
  }
  UniqueFd sealed(::memfd_create("passnet-kernel", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!sealed) return io_error("create", "the memory of a kernel", errno);
  PASSNET_TRY_VOID(write_all(sealed.get(), *bytes, "the memory of a kernel"));
  if (::fcntl(sealed.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return io_error("seal", "the memory of a kernel", errno);
  return sealed;
}

}  // namespace passnet::runtime
