// How much memory this machine can still give, and how to say that it is not enough.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/result.h"

namespace passnet {

/// Bytes that can be used without swapping or killing anyone: what the kernel estimates (MemAvailable), or what
/// the limits of our control groups (version 2) leave, whichever is less. nullopt: the kernel does not tell.
/// root: where /proc and /sys lie. Files stay open once read: who has asked once may ask under a filter that refuses
/// to open files.
std::optional<int64_t> available_memory(const std::filesystem::path& root = "/");

/// Fails when `bytes` for `what` ("the inputs") are more than is available. A double, so that sums of hostile
/// sizes do not overflow. Errors: Resource: "the inputs need 18.3 GiB of memory, found 11.2 GiB available".
Result<void> require_memory(const char* what, double bytes);

/// Limits the private memory of this process to what it holds and what is available now. An allocation beyond it fails
/// with std::bad_alloc; without the limit the kernel ends a process of its choice.
void limit_own_memory();

}  // namespace passnet
