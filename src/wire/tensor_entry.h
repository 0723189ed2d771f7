// Checks that bundles and safetensors files share: sizes that do not overflow, extents inside the memory, no
// overlap.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "wire/bundle.h"

namespace passnet::wire {

/// Returns: the bytes that the entry's elements take.
/// Errors:  BadInput: a negative size, or more than 64 bits can count.
Result<int64_t> checked_size_bytes(const Entry& entry);
/// Checks that all entries lie in [0, size_bytes) and no two overlap.
/// Errors: BadInput naming the entry.
Result<void> check_extents(std::span<const Entry> entries, int64_t size_bytes);
/// json:     a list of integers; name: of the tensor, for messages.
/// Errors:   BadInput.
Result<std::vector<int64_t>> shape_from_json(const Json& json, const std::string& name);

}  // namespace passnet::wire
