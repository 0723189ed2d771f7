// Which memory of a copy-on-write mapping has been written, asked from the kernel instead of compared.
// Internal to runtime/.
#pragma once

#include <cstdint>
#include <optional>

namespace passnet::runtime {

/// True when a page of [data, data + size_bytes) is this process's own copy, not the mapped file's; a page at
/// an end may have been copied for its other part. nullopt: the kernel does not tell (/proc/self/pagemap,
/// which the first call opens and keeps).
std::optional<bool> has_written_pages(const void* data, int64_t size_bytes);

}  // namespace passnet::runtime
