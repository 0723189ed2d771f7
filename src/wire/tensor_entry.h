// Checks that bundles and safetensors files share: sizes that do not overflow, extents inside the memory, no
// overlap.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "wire/bundle.h"

namespace passnet::wire {

/// Bytes of the entry's elements. Errors: BadInput: a negative size, a product over 64 bits.
Result<int64_t> checked_size_bytes(const Entry& entry);
/// Errors: BadInput: an entry outside [0, size_bytes) or two that overlap.
Result<void> check_extents(std::span<const Entry> entries, int64_t size_bytes);
/// A list of integers; `name` is for messages. Errors: BadInput.
Result<std::vector<int64_t>> shape_from_json(const Json& json, const std::string& name);

}  // namespace passnet::wire
