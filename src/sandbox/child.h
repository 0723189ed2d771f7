// The child's side of Process::spawn, between clone and execve: only system calls, no memory allocation, no
// locks.
#pragma once

#include <sys/types.h>

#include <functional>

#include "sandbox/empty_root.h"
#include "sandbox/process.h"

namespace passnet::sandbox {

/// Everything the child needs, prepared by the parent.
struct ChildPlan {
  char** argv = nullptr;
  int (*entry)(int argc, char** argv) = nullptr;  // SpawnOptions::entry
  char* const* environment = nullptr;
  const char* working_directory = nullptr;  // nullptr: ours
  Limits limits;
  bool confined = false;    // no new privileges, no capabilities
  bool supervised = false;  // in new namespaces, below a supervisor
  bool gpu = false;         // sees its own /proc and may write to its own entry there, as CUDA's driver does
  RootPlan root;            // all that it sees; without entries: the whole file system
  const char* uid_map = nullptr;
  const char* gid_map = nullptr;
  int landlock = -1;            // ruleset that refuses writing; -1: none
  uint64_t writes = 0;          // what it allows below a working directory that is made in the new root
  uint64_t own_entry = 0;       // what it allows below the child's own entry in /proc
  int group = -1;               // where a process joins the control group of the child's memory; -1: it has none
  int socket = -1;              // becomes descriptor 3
  int input = -1, output = -1;  // become 0 and, twice, 1 and 2
  int report = -1;              // socket to the parent: one ChildReport per step
  int status = -1;              // pipe to the parent: the program's wait status, from the supervisor
  pid_t parent = -1;
};

/// What went wrong in which step (`error` is an errno), or that the program is about to run (`step` is Started).
struct ChildReport {
  enum Step : int { Started, Supervise, Directory, Descriptors, Restrict, Execute };
  Step step = Started;
  int error = 0;
};

/// Tells whether `attempt` succeeds in a child in new namespaces (CLONE_NEW…).
bool succeeds_in(long namespaces, const std::function<bool()>& attempt);

/// Gives the user and group of a new user namespace their numbers outside: "0 1000 1". Unmapped ones may make no file.
bool map_own_ids(const char* uid_map, const char* gid_map);

[[noreturn]] void run_child(const ChildPlan& plan);

}  // namespace passnet::sandbox
