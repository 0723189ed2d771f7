// Memory for one buffer of a checked kernel run: a fence of 64 MiB before and after it that no access
// survives, and canary bytes in the slack between, so that a kernel that leaves its buffer is caught at the
// byte.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace passnet::runtime {

class FencedMemory {
 public:
  /// size bytes at a multiple of 64, ending at most 63 bytes before the fence. Throws std::bad_alloc.
  explicit FencedMemory(size_t size_bytes);
  FencedMemory(FencedMemory&& other) noexcept;
  FencedMemory& operator=(FencedMemory&&) = delete;
  ~FencedMemory();

  std::byte* data() const { return data_; }
  size_t size_bytes() const { return size_; }
  /// Tells the fault report about the fences; `what` names the buffer.
  void announce(const std::string& what) const;
  /// Where the first canary byte was overwritten: bytes before the start (negative) or past the end (0 is the
  /// first).
  std::optional<ptrdiff_t> broken_canary() const;

 private:
  std::byte* mapping_ = nullptr;
  size_t mapping_size_ = 0;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace passnet::runtime
