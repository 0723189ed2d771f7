#include "faults.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstring>

namespace passnet::cell {

namespace {

Control* told_in = nullptr;

void note_place(const ucontext_t& context, Fault& fault) {
  fault.at = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  // memcpy and its like are leaves that push nothing: their return address is the first word of the stack. A stack that
  // is not there any more would fault here, which ends the process as well.
  std::memcpy(&fault.called_by, reinterpret_cast<const void*>(context.uc_mcontext.gregs[REG_RSP]),
              sizeof fault.called_by);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  static std::atomic_flag telling;
  while (telling.test_and_set()) {
    // Another thread tells, and ends the process when it has.
  }
  Fault& fault = told_in->fault;
  fault.code = info->si_code;
  fault.launch = told_in->running.load(std::memory_order_relaxed);
  fault.address =
      signal == SIGSYS ? static_cast<uint64_t>(info->si_syscall) : reinterpret_cast<uint64_t>(info->si_addr);
  fault.at = 0;
  fault.called_by = 0;
  fault.signal.store(static_cast<uint32_t>(signal), std::memory_order_release);
  note_place(*static_cast<const ucontext_t*>(context), fault);
  told_in->done.fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, &told_in->done, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  ::syscall(SYS_exit_group, 1);
}

}  // namespace

void install_fault_report(Control* control) {
  told_in = control;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) ::sigaction(signal, &action, nullptr);
}

void take_fault_stack() {
  constexpr size_t kSize = 64 << 10;  // the state of wide registers alone takes several KiB
  stack_t stack{};
  stack.ss_sp = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack.ss_size = kSize;
  if (stack.ss_sp != MAP_FAILED) ::sigaltstack(&stack, nullptr);
}

}  // namespace passnet::cell
