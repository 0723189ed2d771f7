// Memory of tensors: one range of addresses, larger than all memory there is, of which only what is touched takes any. Free of
// torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"

namespace passnet::runtime {

class Arena {
 public:
  /// Shared: a memfd, which another process can map. Private: of this process alone.
  enum class Kind { Shared, Private };
  /// Four times the machine's memory, or a quarter of the addresses that a limit (ulimit -v) leaves. Errors: Resource, Io.
  static Result<std::unique_ptr<Arena>> make(Kind kind);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Memory at a multiple of 64 bytes, for large sizes of a page; null when the arena is used up.
  void* take(size_t bytes);
  /// Gives back what take(bytes) gave; its pages are the system's again.
  void give(void* memory, size_t bytes);

  bool holds(const void* memory) const { return memory >= base_ && memory < base_ + size_; }
  std::byte* base() const { return base_; }
  size_t size_bytes() const { return size_; }
  int fd() const { return fd_.get(); }  // of a shared one

 private:
  Arena() = default;
  UniqueFd fd_;
  std::byte* base_ = nullptr;
  size_t size_ = 0;
  std::mutex lock_;                             // of what follows
  size_t used_ = 0;                             // bytes from the start that were ever taken
  std::map<size_t, std::vector<void*>> empty_;  // places that were given back, by size
};

}  // namespace passnet::runtime
