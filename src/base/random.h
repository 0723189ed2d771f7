// Random numbers of the operating system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace passnet {

/// Fills up to 256 bytes. Errors: Resource: the system gives none.
Result<void> fill_random(std::span<std::byte> bytes);

/// 64 random bits. Errors: as fill_random().
Result<uint64_t> random_number();

}  // namespace passnet
