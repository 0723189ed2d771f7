#include "base/check.h"

#include <cstring>

namespace passnet {

void fail_check(const char* condition, const char* file, int line, const std::string& detail) {
  const char* slash = std::strrchr(file, '/');
  throw InternalError(std::string(slash ? slash + 1 : file) + ":" + std::to_string(line) + ": " + detail + " (" +
                      condition + " does not hold)");
}

}  // namespace passnet
