#include "sandbox/filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace passnet::sandbox {

Filter::Filter() {
  load(offsetof(seccomp_data, arch));
  add(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
  add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  load(offsetof(seccomp_data, nr));
}

void Filter::allow(long number) {
  add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 1);
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
}

void Filter::answer(long number, int error) {
  add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 1);
  add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error));
}

void Filter::refuse_with(long number, uint32_t argument, uint32_t bits) {
  add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 5);
  load_argument(argument);
  add(BPF_ALU | BPF_AND | BPF_K, bits);
  add(BPF_JMP | BPF_JEQ | BPF_K, bits, 0, 1);
  refuse();
  load(offsetof(seccomp_data, nr));
}

void Filter::allow_without(long number, uint32_t argument, uint32_t bits) {
  add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 4);
  load_argument(argument);
  add(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0);
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  refuse();
}

void Filter::allow_with(long number, uint32_t argument, uint32_t bits) {
  allow_masked(number, argument, bits, bits, true);
}

void Filter::allow_unless(long number, uint32_t argument, uint32_t mask, uint32_t value) {
  allow_masked(number, argument, mask, value, false);
}

void Filter::allow_masked(long number, uint32_t argument, uint32_t mask, uint32_t value, bool when_equal) {
  add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 5);
  load_argument(argument);
  add(BPF_ALU | BPF_AND | BPF_K, mask);
  add(BPF_JMP | BPF_JEQ | BPF_K, value, when_equal ? 0 : 1, when_equal ? 1 : 0);
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  refuse();
}

void Filter::allow_values(long number, uint32_t argument, std::initializer_list<uint32_t> values) {
  const auto count = static_cast<uint8_t>(values.size());
  add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, static_cast<uint8_t>(2 * count + 2));
  load_argument(argument);
  for (const uint32_t value : values) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  refuse();
}

void Filter::refuse() { add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM); }

std::string Filter::bytes() const {
  return {reinterpret_cast<const char*>(code_.data()), code_.size() * sizeof code_[0]};
}

bool Filter::install() {
  sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

void Filter::add(int operation, uint32_t operand, uint8_t if_true, uint8_t if_false) {
  code_.push_back(sock_filter{static_cast<uint16_t>(operation), if_true, if_false, operand});
}

void Filter::load(size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)); }

/// The low half.
void Filter::load_argument(uint32_t argument) { load(offsetof(seccomp_data, args) + 8 * argument); }

}  // namespace passnet::sandbox
