// A root directory that holds nothing but what a child must see. Called between clone and execve: system calls only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace passnet::sandbox {

struct RootEntry {
  const char* source;  // absolute, without symbolic links
  const char* target;  // where the child sees it
  enum Kind : uint8_t { File, Directory, Device } kind;
};

struct RootPlan {
  const RootEntry* entries = nullptr;  // seen, read-only
  size_t count = 0;
  const char* writable = nullptr;  // a directory without symbolic links in its name
  const char* memory = nullptr;  // options of the file system in memory that takes its place, empty; nullptr: none does
  enum Proc : uint8_t { None, ReadOnly, Writable } proc = None;  // of the child's own processes
};

/// Makes this the whole file system of this process. Returns: false with errno set when the kernel refuses.
/// REQUIRES: new user and mount namespaces; for a /proc a new pid namespace.
bool enter_empty_root(const RootPlan& plan);

/// Whether a child can be given a root of its own. Probed once.
bool empty_root_available();

}  // namespace passnet::sandbox
