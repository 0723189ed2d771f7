// Random numbers of the operating system.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace passnet {

/// 64 random bits. Errors: Io: the system gives none.
Result<uint64_t> random_number();

}  // namespace passnet
