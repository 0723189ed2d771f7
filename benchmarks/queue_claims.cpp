// A queue in a directory that processes empty as fast as they can: how many items a second are added, claimed and
// finished, and how often an item was claimed. Prints JSON.
//
//   queue_claims DIRECTORY ITEMS WORKERS      DIRECTORY is new, and stays
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "cluster/queue.h"

namespace passnet {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

[[noreturn]] void end(const Error& error) {
  std::fputs((to_string(error) + "\n").c_str(), stderr);
  std::exit(1);
}

template <class T>
T value_of(Result<T> result) {
  if (!result) end(result.error());
  return std::move(*result);
}

std::string file_of(const fs::path& directory, int worker) {
  return (directory / fmt::format("claimed_{}", worker)).string();
}

/// Claims and finishes items until none is left, then writes their numbers.
void work(const fs::path& directory, int number) {
  cluster::Queue queue = value_of(cluster::Queue::open(directory / "queue", fmt::format("worker{}", number)));
  std::vector<uint32_t> claimed;
  while (const auto claim = value_of(queue.claim())) {
    claimed.push_back(static_cast<uint32_t>(std::stoul(claim->text)));
    value_of(queue.finish(*claim));
  }
  const std::string_view bytes(reinterpret_cast<const char*>(claimed.data()), claimed.size() * sizeof(uint32_t));
  if (const Result<void> written = write_file(file_of(directory, number), bytes); !written) end(written.error());
}

/// Times that each item was claimed.
std::vector<int> count_claims(const fs::path& directory, size_t items, int workers) {
  std::vector<int> times(items);
  for (int worker = 0; worker < workers; ++worker) {
    const std::string bytes = value_of(read_file(file_of(directory, worker), FileKind::Lines));
    const auto* numbers = reinterpret_cast<const uint32_t*>(bytes.data());
    for (size_t i = 0; i < bytes.size() / sizeof(uint32_t); ++i) ++times.at(numbers[i]);
  }
  return times;
}

void measure(const fs::path& directory, size_t count, int workers) {
  std::vector<cluster::QueueItem> items;
  for (size_t i = 0; i < count; ++i) items.push_back({fmt::format("item_{}", i), std::to_string(i)});
  Clock::time_point begin = Clock::now();
  value_of(value_of(cluster::Queue::create(directory / "queue", {{"eval"}, 120, 3})).add(items));
  const double adding_s = seconds_since(begin);
  begin = Clock::now();
  std::vector<pid_t> children;
  for (int i = 0; i < workers; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      work(directory, i);
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    if (::waitpid(child, &status, 0) != child || status != 0) end(resource_error("a worker failed"));
  }
  const double working_s = seconds_since(begin);
  size_t twice = 0, never = 0;
  for (const int times : count_claims(directory, count, workers)) {
    twice += times > 1;
    never += times == 0;
  }
  fmt::print(
      "{{\"items\": {}, \"workers\": {}, \"adds_per_s\": {:.0f}, \"claims_per_s\": {:.0f}, \"claimed_twice\": {}, "
      "\"never_claimed\": {}}}\n",
      count, workers, static_cast<double>(count) / adding_s, static_cast<double>(count) / working_s, twice, never);
}

}  // namespace
}  // namespace passnet

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: queue_claims DIRECTORY ITEMS WORKERS\n", stderr);
    return 2;
  }
  passnet::measure(argv[1], std::stoul(argv[2]), std::stoi(argv[3]));
  return 0;
}
