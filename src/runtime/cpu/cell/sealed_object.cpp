#include "runtime/cpu/cell/sealed_object.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>

#include "runtime/device/object_bytes.h"

namespace passnet::runtime {

Result<UniqueFd> seal_object(const pass::KernelFile& file, const std::string& kernel) {
  PASSNET_TRY(const std::string bytes, read_object(file, kernel));
  UniqueFd sealed(::memfd_create("passnet-kernel", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!sealed) return io_error("create", "the memory of a kernel", errno);
  PASSNET_TRY_VOID(write_all(sealed.get(), bytes, "the memory of a kernel"));
  if (::fcntl(sealed.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return io_error("seal", "the memory of a kernel", errno);
  return sealed;
}

}  // namespace passnet::runtime
