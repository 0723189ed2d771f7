// A root directory that holds nothing but what a child must see. Called between clone and execve: system calls only.
#pragma once

#include <cstddef>

namespace passnet::sandbox {

struct RootEntry {
  const char* source;  // absolute, without symbolic links
  const char* target;  // where the child sees it
  bool directory;
};

/// Makes the entries, read-only, and `writable`, a directory without symbolic links in its name, the whole file system
/// of this process. Returns: false with errno set when the kernel refuses.
/// REQUIRES: new user and mount namespaces.
bool enter_empty_root(const RootEntry* entries, size_t count, const char* writable);

/// Whether a child can be given a root of its own. Probed once.
bool empty_root_available();

}  // namespace passnet::sandbox
