// Our own invariants. A failed check is a bug of PassNet: it throws InternalError, which `main` reports with
// exit code 70. Never use it for what a user, a pass or the machine can cause.
#pragma once

#include <stdexcept>
#include <string>

namespace passnet {

struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* condition, const char* file, int line, const std::string& detail);

/// PASSNET_CHECK(condition, "detail"): throws InternalError when the condition does not hold.
#define PASSNET_CHECK(condition, detail) \
  ((condition) ? void(0) : ::passnet::fail_check(#condition, __FILE__, __LINE__, (detail)))

}  // namespace passnet
