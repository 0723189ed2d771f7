#include "runtime/device/fault_report.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>

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

struct State {
  int socket = -1;
  std::atomic<const RunningLaunch*> running{nullptr};
};
State state;

using Reply = Text<4000>;

/// Answers the request that is pending with what runs.
void tell(const RunningLaunch& running) {
  Reply reply;
  reply.append("{\"ok\": false, \"kind\": \"timeout\", \"error\": \"");
  reply.append_plain(running.kernel);
  reply.append(" was running\", \"at\": {\"file\": \"");
  reply.append_plain(running.at.file);
  reply.append("\", \"line\": ");
  reply.append_number(running.at.line);
  reply.append(", \"column\": ");
  reply.append_number(running.at.column);
  // Last, and cut where it would not fit.
  reply.append("}, \"launch\": \"");
  reply.append_plain(std::string_view(running.launch).substr(0, kMostLaunchText));
  reply.append("\"}");
  std::array<unsigned char, 4> length;
  for (size_t i = 0; i < length.size(); ++i) length[i] = static_cast<unsigned char>(reply.size >> (8 * i));
  // Nothing can be done about a failed write: the process is about to end, which says enough.
  if (::write(state.socket, length.data(), length.size()) == static_cast<ssize_t>(length.size()) &&
      ::write(state.socket, reply.bytes.data(), reply.size) < 0)
    state.socket = -1;
}

void on_end(int) {
  if (const RunningLaunch* const running = state.running.load()) tell(*running);
  ::_exit(kAskedToEnd);
}

}  // namespace

void install_fault_report(int socket) {
  state.socket = socket;
  struct sigaction action {};
  action.sa_handler = on_end;
  ::sigaction(SIGTERM, &action, nullptr);
}

void set_running(const RunningLaunch* launch) { state.running.store(launch, std::memory_order_relaxed); }

}  // namespace passnet::runtime
