// A program that misbehaves in the way its first argument names; started by process_test.cpp and fork_server_test.cpp.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "sandbox/fork_server.h"

namespace {

int answer(int error) {
  std::puts(error == 0 ? "ok" : strerrorname_np(error));
  return 0;
}

int connect_loopback() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) return answer(errno);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return answer(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ? 0 : errno);
}

int write_to(const char* path) {
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  return answer(fd >= 0 && ::write(fd, "x", 1) == 1 ? 0 : errno);
}

int list(const char* directory) {
  std::error_code failure;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory, failure))
    names.push_back(entry.path().filename().string());
  if (failure) return answer(failure.value());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) std::puts(name.c_str());
  return 0;
}

int read_from(const char* path) {
  const int fd = ::open(path, O_RDONLY);
  char byte = 0;
  return answer(fd >= 0 && ::read(fd, &byte, 1) >= 0 ? 0 : errno);
}

int count_processes() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc"))
    count += entry.path().filename().string().find_first_not_of("0123456789") == std::string::npos ? 1 : 0;
  std::printf("%d\n", count);
  return 0;
}

/// Fills so many MiB of a descriptor; what is in it is memory of no process.
int fill(int fd, int megabytes) {
  static const std::vector<char> block(1 << 20, 'x');
  for (int i = 0; fd >= 0 && i < megabytes; ++i) {
    if (::write(fd, block.data(), block.size()) != static_cast<ssize_t>(block.size())) return answer(errno);
  }
  return answer(fd >= 0 ? 0 : errno);
}

int fill_shared(int megabytes) {
  const size_t size = static_cast<size_t>(megabytes) << 20;
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return answer(errno);
  std::memset(memory, 1, size);
  return answer(0);
}

/// Processes that hold 4 MiB each.
int fill_processes(int megabytes) {
  for (int i = 0; i < megabytes / 4; ++i) {
    if (::fork() != 0) continue;
    const std::vector<char> held(4 << 20, 'x');
    for (;;) ::pause();
  }
  while (::waitpid(-1, nullptr, 0) <= 0) {
  }
  return answer(ENOMEM);
}

int spread(bool stay) {
  for (int i = 0; i < 3; ++i) {
    if (::fork() != 0) continue;
    ::setsid();
    for (;;) ::pause();
  }
  (void)!::write(3, "r", 1);
  while (stay) ::pause();
  return 0;
}

void write_to_nowhere() {
  auto* page = static_cast<volatile char*>(::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  page[0] = 1;
}

int open_descriptors() {
  std::string found;
  for (int fd = 0; fd < 256; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) found += std::to_string(fd) + " ";
  }
  std::puts(found.c_str());
  return 0;
}

int act(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "segv") write_to_nowhere();
  if (mode == "abort") std::abort();
  if (mode == "exit") return std::atoi(argv[2]);
  if (mode == "hang")
    for (;;) ::pause();
  if (mode == "spin")
    for (;;) (void)::getppid();
  if (mode == "memory") {
    std::vector<char*> blocks;
    for (int i = 0; i < 4096; ++i) {
      char* block = static_cast<char*>(std::malloc(1 << 20));
      if (!block) return answer(ENOMEM);
      std::memset(block, 1, 1 << 20);
      blocks.push_back(block);
    }
    return answer(0);
  }
  if (mode == "output")
    for (int i = 0; i < 40000; ++i) std::puts("0123456789012345678901234567890123456789");
  if (mode == "big-file") {
    FILE* file = std::fopen(argv[2], "w");
    for (int i = 0; file && i < 100000; ++i) std::fputs("0123456789012345678901234567890123456789", file);
  }
  if (mode == "connect") return connect_loopback();
  if (mode == "write") return write_to(argv[2]);
  if (mode == "move") return answer(std::rename(argv[2], argv[3]) == 0 ? 0 : errno);
  if (mode == "read") return read_from(argv[2]);
  if (mode == "list") return list(argv[2]);
  if (mode == "processes") return count_processes();
  if (mode == "fill-file") return fill(::open(argv[2], O_WRONLY | O_CREAT, 0600), std::atoi(argv[3]));
  if (mode == "fill-memfd") return fill(::memfd_create("x", 0), std::atoi(argv[2]));
  if (mode == "fill-shared") return fill_shared(std::atoi(argv[2]));
  if (mode == "fill-processes") return fill_processes(std::atoi(argv[2]));
  if (mode == "spread-and-stay") return spread(true);
  if (mode == "spread-and-leave") return spread(false);
  if (mode == "environment")
    for (char** entry = environ; *entry; ++entry) std::puts(*entry);
  if (mode == "descriptors") return open_descriptors();
  if (mode == "privileges") return answer(::setuid(12345) == 0 ? 0 : errno);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto act_and_print = [](int count, char** arguments) {
    const int code = act(count, arguments);
    std::fflush(nullptr);
    return code;
  };
  if (std::strcmp(argv[argc - 1], passnet::sandbox::kServeForks) != 0) return act(argc, argv);
  passnet::sandbox::serve_forks(argc, argv, act_and_print);
  return 0;
}
