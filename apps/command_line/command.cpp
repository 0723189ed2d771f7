#include "command.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/file/file.h"
#include "base/json/json_object.h"
#include "base/usage.h"
#include "report/progress.h"

namespace passnet::cli {

ExitCode exit_code_of(const Error& error) {
  if (error.failure == kUsageFailure) return kUsage;
  switch (error.kind) {
    case Error::Kind::BadInput:
    case Error::Kind::BadPass:
    case Error::Kind::Unsupported: return kBadInput;
    case Error::Kind::Resource:
    case Error::Kind::Io: return kResource;
  }
  return kBug;
}

namespace {
/// Writes the fields of an error to the file that $PASSNET_ERROR_FILE names: for a program that started this one.
void write_fields(const Error& error) {
  const char* const path = std::getenv("PASSNET_ERROR_FILE");
  if (path == nullptr || *path == 0) return;
  Json fields{{"message", error.message},
              {"kind", to_string(error.kind)},
              {"failure", failure_kind(error)},
              {"hint", error.hint},
              {"notes", error.notes}};
  if (error.at) fields["at"] = to_json_object(*error.at);
  if (const Result<void> written = write_file(path, compact(fields) + "\n"); !written)
    say_error("{}\n", Lines{to_string(written.error())});
}
}  // namespace

ExitCode report_error(const Error& error) {
  say_error("{}\n", Lines{to_string(error)});
  write_fields(error);
  return exit_code_of(error);
}

namespace {
std::atomic<bool> interrupted_flag{false};
std::atomic<unsigned> most_seconds{0};
std::string last_words;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<unsigned>::is_always_lock_free,
              "used by a signal handler");

void on_signal(int) {
  // Workers die with us (they asked the kernel for it), so leaving at once is clean enough for someone who insists.
  if (interrupted_flag.exchange(true)) ::_exit(kInterrupted);
  ::alarm(most_seconds);
}
}  // namespace

ExitCode finish(const Result<void>& done) {
  if (done) return kOk;
  return interrupted() ? kInterrupted : report_error(done.error());
}

ExitCode finish(const Result<ExitCode>& done) {
  if (interrupted()) return kInterrupted;
  return done ? *done : report_error(done.error());
}

const std::atomic<bool>& interrupted() { return interrupted_flag; }

void catch_interrupts(unsigned most_s, std::string said) {
  if (most_s > 0) {
    most_seconds = most_s;
    last_words = std::move(said);
  }
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = [](int) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, last_words.data(), last_words.size());
    ::_exit(kInterrupted);
  };
  ::sigaction(SIGALRM, &action, nullptr);
}

void print_next(std::string_view command) {
  if (!report::quiet()) say_error("next: {}\n", command);
}

}  // namespace passnet::cli
