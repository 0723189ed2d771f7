#include "runtime/device/fault_report.h"

#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>

namespace passnet::runtime {

namespace {

constexpr size_t kMostLaunchText = 2000;
constexpr int kAskedToEnd = 128 + SIGTERM;  // as a shell has it

/// Text of fixed capacity; appending is safe in a signal handler.
template <size_t Capacity>
struct Text {
  std::array<char, Capacity> bytes{};
  size_t size = 0;
  void clear() { size = 0; }
  void append(std::string_view text) {
    const size_t count = std::min(text.size(), Capacity - size);
    std::memcpy(bytes.data() + size, text.data(), count);
    size += count;
  }
  /// Quotes, backslashes and control bytes become '?', so the text fits into a JSON string.
  void append_plain(std::string_view text) {
    for (const char c : text)
      append(c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 ? "?" : std::string_view(&c, 1));
  }
  void append_number(uint64_t number) {
    std::array<char, 20> digits{};
    size_t at = digits.size();
    do {
      digits[--at] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    append({digits.data() + at, digits.size() - at});
  }
  std::string_view view() const { return {bytes.data(), size}; }
};

struct Fence {
  uintptr_t begin = 0, end = 0, data = 0, data_end = 0;
  Text<48> what;
};

struct State {
  int socket = -1;
  std::atomic<const RunningLaunch*> running{nullptr};
  std::array<Fence, 256> fences;
  std::atomic<size_t> fence_count{0};
};
State state;

const char* signal_words(int signal) {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV (invalid memory access)";
    case SIGBUS: return "SIGBUS (access beyond a mapping)";
    case SIGFPE: return "SIGFPE (integer division by zero or overflow)";
    default: return "SIGILL (invalid instruction)";
  }
}

const Fence* find_fence(uintptr_t address) {
  for (size_t i = 0; i < state.fence_count.load(); ++i) {
    if (address >= state.fences[i].begin && address < state.fences[i].end) return &state.fences[i];
  }
  return nullptr;
}

using Reply = Text<4000>;

void describe_end(Reply& reply, const RunningLaunch& running, int signal, uintptr_t address) {
  const Fence* fence = signal == SIGSEGV || signal == SIGBUS ? find_fence(address) : nullptr;
  reply.append("{\"ok\": false, \"kind\": \"");
  reply.append(fence != nullptr ? "out-of-bounds" : signal == SIGTERM ? "timeout" : "crash");
  reply.append("\", \"error\": \"");
  reply.append_plain(running.kernel);
  if (signal == SIGTERM) {
    reply.append(" was running");
  } else if (fence == nullptr) {
    reply.append(" crashed: ");
    reply.append(signal_words(signal));
  } else {
    const bool after = address >= fence->data_end;
    reply.append(" touched memory outside of ");
    reply.append_plain(fence->what.view());
    reply.append(": ");
    if (address == fence->data_end) {
      reply.append("the first byte behind its end");
    } else {
      reply.append_number(after ? address - fence->data_end : fence->data - address);
      reply.append(after ? " bytes past its end" : " bytes before its start");
    }
  }
  reply.append("\"");
}

/// Where the processor was, or, when that is a function of libc that the kernel called, where it was called from: 0
/// when neither lies in the kernel's code.
uintptr_t code_address(const RunningLaunch& running, const ucontext_t& context) {
  const auto in_kernel = [&](uintptr_t address) { return address >= running.code_begin && address < running.code_end; };
#if defined(__x86_64__)
  const auto at = static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
  if (in_kernel(at)) return at;
  // memcpy and its like are leaves that push nothing: their return address is the first word of the stack.
  uintptr_t caller = 0;
  std::memcpy(&caller, reinterpret_cast<const void*>(context.uc_mcontext.gregs[REG_RSP]), sizeof caller);
  return in_kernel(caller) ? caller - 1 : 0;
#elif defined(__aarch64__)
  if (in_kernel(context.uc_mcontext.pc)) return context.uc_mcontext.pc;
  return in_kernel(context.uc_mcontext.regs[30]) ? context.uc_mcontext.regs[30] - 1 : 0;
#else
  return 0;
#endif
}

void describe_place(Reply& reply, const RunningLaunch& running, uintptr_t code) {
  reply.append(", \"at\": {\"file\": \"");
  reply.append_plain(running.at.file);
  reply.append("\", \"line\": ");
  reply.append_number(running.at.line);
  reply.append(", \"column\": ");
  reply.append_number(running.at.column);
  reply.append("}");
  if (code != 0) {
    reply.append(", \"code\": {\"list\": ");
    reply.append_number(running.list);
    reply.append(", \"launch\": ");
    reply.append_number(running.index);
    reply.append(", \"offset\": ");
    reply.append_number(code - running.code_begin);
    reply.append("}");
  }
  // Last, and cut where it would not fit.
  reply.append(", \"launch\": \"");
  reply.append_plain(std::string_view(running.launch).substr(0, kMostLaunchText));
  reply.append("\"}");
}

/// Answers the request that is pending with what ran.
void tell(const RunningLaunch& running, int signal, uintptr_t address, const ucontext_t& context) {
  Reply reply;
  describe_end(reply, running, signal, address);
  describe_place(reply, running, code_address(running, context));
  std::array<unsigned char, 4> length;
  for (size_t i = 0; i < length.size(); ++i) length[i] = static_cast<unsigned char>(reply.size >> (8 * i));
  // Nothing can be done about a failed write: the process is about to end, which says enough.
  if (::write(state.socket, length.data(), length.size()) == static_cast<ssize_t>(length.size()) &&
      ::write(state.socket, reply.bytes.data(), reply.size) < 0)
    state.socket = -1;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  // Threads of a kernel may fault at the same time: one tells, and ends the process when it has.
  static std::atomic_flag told;
  while (told.test_and_set()) {
    const timespec while_it_tells{1, 0};
    ::nanosleep(&while_it_tells, nullptr);
  }
  if (const RunningLaunch* const running = state.running.load())
    tell(*running, signal, reinterpret_cast<uintptr_t>(info->si_addr), *static_cast<const ucontext_t*>(context));
  if (signal == SIGTERM) ::_exit(kAskedToEnd);
  // The instruction that faulted runs again and ends the process with this very signal.
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(signal, &usual, nullptr);
}

}  // namespace

void install_fault_report(int socket) {
  state.socket = socket;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTERM};
  // A fault of the report itself ends the process.
  for (const int signal : kSignals) ::sigaddset(&action.sa_mask, signal);
  for (const int signal : kSignals) ::sigaction(signal, &action, nullptr);
}

void set_running(const RunningLaunch* launch) { state.running.store(launch, std::memory_order_relaxed); }

void add_fence(const void* begin, const void* end, const void* data, const void* data_end, std::string_view what) {
  const size_t count = state.fence_count.load();
  if (count == state.fences.size()) return;
  Fence& fence = state.fences[count];
  fence.begin = reinterpret_cast<uintptr_t>(begin);
  fence.end = reinterpret_cast<uintptr_t>(end);
  fence.data = reinterpret_cast<uintptr_t>(data);
  fence.data_end = reinterpret_cast<uintptr_t>(data_end);
  fence.what.clear();
  fence.what.append(what);
  state.fence_count.store(count + 1);
}

void clear_fences() { state.fence_count.store(0); }

}  // namespace passnet::runtime
