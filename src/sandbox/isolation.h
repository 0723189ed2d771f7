// What confines a child, and words for it. The only place that knows the kernel's primitives.
//
//   Jail       compilers on foreign source, host code in Python: no network, no other process in sight, no capabilities, no
//              new privileges; files can be written only below the working directory, and where the kernel gives new
//              mounts, no other file than those named for it can be seen: its root is empty, without /proc, or with that
//              of its own processes.
//   Worker     passnet-worker, which runs foreign graphs and kernels: the same, no file can be written anywhere, and once
//              it has loaded what it needs it calls enter_worker_filter().
// Compilers read their headers, and a worker what WorkerFilter lets it read.
#pragma once

#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"

namespace passnet::sandbox {

/// Whether the kernel gives us new user, network, pid and ipc namespaces. Probed once.
bool namespaces_available();

/// Mounts a /proc that shows this process's own pid namespace.
/// writable: a process may write to its own entry, as CUDA's driver does. The kernel's settings stay read-only.
/// Returns: false when the kernel refuses, as it does in a container whose own /proc is masked.
/// REQUIRES: new user, pid and mount namespaces.
bool mount_own_proc(bool writable);
/// Whether a child can be given its own /proc. Probed once.
bool own_proc_available();

/// writable: the directory below which files may be written; empty for none.
/// gpu:      also allows writing to /dev/nvidia*, as a candidate on the GPU must.
/// readable: files and directories which alone may be opened for reading, and `writable`; nullptr: everything.
/// Returns:  a Landlock ruleset that refuses every other change of the file system but writing to /dev/null; an empty
///           descriptor when the kernel has no Landlock.
UniqueFd no_write_ruleset(const std::string& writable, bool gpu, const std::vector<std::string>* readable = nullptr);

/// Changes of files that this kernel's Landlock can refuse.
uint64_t landlock_writes();

struct WorkerFilter {
  bool gpu = false;          // also ioctl, by which the driver is asked through its open devices
  bool opens_files = false;  // for reading: kernels, and libraries that CUDA loads when they are first used
  bool shares_gpu = false;   // also opening for writing what is there, by which CUDA shares memory; Landlock says what
};

/// From now on every thread of this process may make only the system calls that computing, threads and the inherited
/// socket need. Refused with EPERM: opening files, new sockets, programs and processes, signals to others, ptrace,
/// changes of the file system, io_uring, bpf, namespaces, … This cannot be undone.
/// Errors:   Resource when the kernel refuses the filter.
Result<void> enter_worker_filter(const WorkerFilter& allowed);

/// Returns:  the same filter for a compiler that runs foreign code, without signals even to itself and without files in
///           memory: bytes that a process of another language installs by prctl(PR_SET_SECCOMP), an array of the
///           kernel's struct sock_filter.
std::string compiler_filter_bytes();

struct HostCodeFilter {
  bool gpu = false;            // also ioctl with any request
  bool makes_memory = false;   // all memory that there is; else no memfd, no huge pages and
  bool shares_memory = false;  // only if this is set, shared mappings of no file, which CUDA's driver uses
};

/// Returns:  a filter for host code of passes in Python, which it enters itself once all its threads run. Refused are sockets,
///           signals, ptrace, changes of owners and modes, mounts, namespaces, io_uring, bpf, …; programs and files are left
///           to the jail. In the form of compiler_filter_bytes().
std::string host_code_filter_bytes(const HostCodeFilter& allowed);

/// Enters it in all threads of this process. Errors: as enter_worker_filter().
Result<void> enter_host_code_filter(const HostCodeFilter& allowed);

/// Returns: what Process::spawn uses on this machine: "user, network, pid and ipc namespaces; Landlock; no new
///          privileges; seccomp filter; compilers in an empty root; memory control groups".
std::string describe_isolation();

/// Returns: whether this process is in such namespaces, found by looking into /proc.
bool in_own_namespaces();
/// Returns: what is in force in this process, found by asking the kernel, in the same words; or "none".
/// namespaces: what in_own_namespaces() said before files could no longer be opened.
std::string describe_own_isolation(bool namespaces);

}  // namespace passnet::sandbox
