// A control group that bounds what processes hold together: their own memory, shared memory, files in memory. The only
// limit of the kernel's that counts all of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/file/file.h"

namespace passnet::sandbox {

class MemoryGroup {
 public:
  /// A new group below our own (version 1) or beside it (version 2, where a group with processes has none below it).
  /// nullopt: this process may make none with a limit.
  static std::optional<MemoryGroup> make(int64_t bytes);
  MemoryGroup(MemoryGroup&& other) noexcept;
  MemoryGroup& operator=(MemoryGroup&& other) noexcept;
  /// Ends what is left in it, and removes it.
  ~MemoryGroup();

  /// Whoever writes "0" here joins, with all that it starts later.
  int entrance() const { return entrance_.get(); }
  /// Returns: true when the kernel has killed a process in it for its limit.
  bool was_exceeded() const;

 private:
  explicit MemoryGroup(std::filesystem::path directory);
  void remove();

  std::filesystem::path directory_;  // empty: moved from
  UniqueFd entrance_;
};

/// Returns: true when make() gives a group. Probed once.
bool memory_group_available();

}  // namespace passnet::sandbox
