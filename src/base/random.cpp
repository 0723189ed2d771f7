#include "base/random.h"

#include <sys/random.h>

#include <cerrno>

namespace passnet {

Result<uint64_t> random_number() {
  uint64_t number = 0;
  ssize_t got = 0;
  do {
    got = ::getrandom(&number, sizeof number, 0);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof number) return io_error("get", "random bytes of the system", errno);
  return number;
}

}  // namespace passnet
