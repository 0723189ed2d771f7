// passnet-cell: the process that kernels of passes run in on the CPU. Started by a candidate worker, it maps kernels,
// buffers and the control page (cell/control.h), starts its threads, gives up all else, and computes what it is handed.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "cell/control.h"
#include "cell/matrix_unit.h"
#include "faults.h"
#include "loader.h"
#include "lock.h"
#include "team.h"

namespace passnet::cell {
namespace {

constexpr int kNoSocket = 2, kNoTable = 3, kNotLocked = 4;  // exit codes

/// Receives one message. Returns: how many descriptors came with it; -1: there is none.
int receive(int* fds, int most) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(kFds * sizeof(int))];
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  if (::recvmsg(kSocket, &message, MSG_CMSG_CLOEXEC) <= 0) return -1;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return 0;
  const auto count = static_cast<int>((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  if (count > most) return -1;
  std::memcpy(fds, CMSG_DATA(header), static_cast<size_t>(count) * sizeof(int));
  return count;
}

template <class T>
T* map(int fd, uint64_t size, int protection) {
  void* memory = ::mmap(nullptr, size, protection, MAP_SHARED | MAP_NORESERVE, fd, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<T*>(memory);
}

/// Each slot by itself, with nothing before and after it. Returns: what failed, or null.
const char* map_slots(const Table& table, SlotRow* rows, int fd) {
  uint64_t span = table.fence;
  for (uint32_t i = 0; i < table.slots; ++i) span += rows[i].size + table.fence;
  void* room = ::mmap(nullptr, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return "no room for the buffers of the kernels";
  char* at = static_cast<char*>(room) + table.fence;
  for (uint32_t i = 0; i < table.slots; ++i) {
    const int protection = rows[i].writable ? PROT_READ | PROT_WRITE : PROT_READ;
    if (::mmap(at, rows[i].size, protection, MAP_SHARED | MAP_FIXED, fd, static_cast<off_t>(rows[i].offset)) ==
        MAP_FAILED)
      return "a buffer of the kernels cannot be mapped";
    rows[i].base = reinterpret_cast<uint64_t>(at);
    at += rows[i].size + table.fence;
  }
  return nullptr;
}

/// Sets up what the table asks for. Returns: what failed, or null.
const char* set_up(Table* table, const int* fds, Team& team) {
  char* bytes = reinterpret_cast<char*>(table);
  team.control = map<Control>(fds[kControlFd], sizeof(Control), PROT_READ | PROT_WRITE);
  team.program = map<const Program>(fds[kProgramFd], table->program_size, PROT_READ);
  if (team.control == nullptr || team.program == nullptr) return "the control pages cannot be mapped";
  install_fault_report(team.control);
  if (table->arena_size > 0) {
    const void* arena = map<const void>(fds[kArenaFd], table->arena_size, PROT_READ);
    if (arena == nullptr) return "the tensors cannot be mapped";
    table->arena_base = reinterpret_cast<uint64_t>(arena);
  }
  if (const char* problem = map_slots(*table, reinterpret_cast<SlotRow*>(bytes + slots_at(*table)), fds[kSlotsFd]))
    return problem;
  void* entries = ::mmap(nullptr, round_up(table->kernels * sizeof(passnet_run_fn) + 1, 4096), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (entries == MAP_FAILED) return "no memory";
  auto* kernels = static_cast<passnet_run_fn*>(entries);
  auto* rows = reinterpret_cast<KernelRow*>(bytes + kernels_at());
  for (uint32_t i = 0; i < table->kernels; ++i) {
    int fd = -1;
    if (receive(&fd, 1) != 1) return "a kernel's object did not come";
    if (const char* problem = load_kernel(fd, rows + i, kernels + i)) return problem;
    ::close(fd);
  }
  team.kernels = kernels;
  team.threads = table->threads;
  team.matrix_unit = take_matrix_unit();
  return start_team(team, reinterpret_cast<const int32_t*>(bytes + processors_at(*table)));
}

int run() {
  // Whoever started it is gone: so is this.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_DUMPABLE, 0);
  int fds[kFds];
  if (receive(fds, kFds) != kFds) return kNoSocket;
  const auto size = static_cast<uint64_t>(::lseek(fds[kTableFd], 0, SEEK_END));
  auto* table = map<Table>(fds[kTableFd], size, PROT_READ | PROT_WRITE);
  if (table == nullptr || size < size_of(*table)) return kNoTable;
  Team team;
  const char* problem = set_up(table, fds, team);
  if (problem == nullptr && !drop_vdso()) problem = "the kernel's clock page cannot be unmapped";
  if (problem != nullptr) std::snprintf(table->problem, sizeof table->problem, "%s", problem);
  ::munmap(table, size);
  if (::write(kSocket, "", 1) != 1 || problem != nullptr) return kNoSocket;
  if (lock(team.control) != nullptr) return kNotLocked;
  run_programs();
}

}  // namespace
}  // namespace passnet::cell

int main() { return passnet::cell::run(); }
