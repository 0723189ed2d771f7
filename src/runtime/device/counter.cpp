#include "runtime/device/counter.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <ctime>

namespace passnet::runtime {

namespace {

thread_local bool has_counter = true;

bool set_counter(int state) { return ::prctl(PR_SET_TSC, state, 0, 0, 0) == 0; }
void switch_on() {
  (void)set_counter(PR_TSC_ENABLE);
  has_counter = true;
}

bool reads_counter(const void* instruction) {
  constexpr std::array<unsigned char, 2> kRdtsc{0x0f, 0x31};
  constexpr std::array<unsigned char, 3> kRdtscp{0x0f, 0x01, 0xf9};
  return std::memcmp(instruction, kRdtsc.data(), kRdtsc.size()) == 0 ||
         std::memcmp(instruction, kRdtscp.data(), kRdtscp.size()) == 0;
}

/// Lets the instruction run again, with the counter; any other fault is what it would be without this.
void give_counter_back(int signal, siginfo_t* info, void* context) {
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  // Sent by the system, not for an address: a fault in general, of an instruction that can be read.
  if (info->si_code == SI_KERNEL && reads_counter(reinterpret_cast<const void*>(registers[REG_RIP])))
    switch_on();
  else
    (void)std::signal(signal, SIG_DFL);
}

bool handle_faults() {
  struct sigaction action = {};
  action.sa_sigaction = give_counter_back;
  action.sa_flags = SA_SIGINFO;
  return ::sigaction(SIGSEGV, &action, nullptr) == 0;
}

bool switch_off() {
  static const bool handled = handle_faults();
  return handled && set_counter(PR_TSC_SIGSEGV);
}

}  // namespace

CounterOff::CounterOff(bool wanted) : is_off_(wanted && has_counter && switch_off()) {
  if (is_off_) has_counter = false;
}

CounterOff::~CounterOff() {
  if (is_off_) switch_on();
}

std::chrono::steady_clock::time_point now() {
  if (has_counter) return std::chrono::steady_clock::now();
  // The system reads it itself; std::chrono would do so here.
  timespec time{};
  (void)::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
  return std::chrono::steady_clock::time_point(std::chrono::seconds(time.tv_sec) +
                                               std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace passnet::runtime
