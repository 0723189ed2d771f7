// Who waits for processors and GPUs of this machine, and who has some: a file for each, owned by its user and locked for
// as long as its process lives. Files of processes that have ended are unlocked, and passed over.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "run/machine/lock_directory.h"

namespace passnet::run {

/// `count` of the things `of` a kind.
struct Things {
  std::vector<int> of;
  size_t count = 0;
};
using ThingsByKind = std::map<std::string, Things>;  // "processor", "gpu"

/// Whether both have a thing that the other one has, too.
bool overlap(const ThingsByKind& a, const ThingsByKind& b);

/// As a file tells it. uid: of the file, which no other user can make; the rest is what that user wrote.
struct Ticket {
  std::string name;  // of the file; those that wait are ordered by it
  unsigned uid = 0;
  int pid = 0;
  std::string command;  // "passnet author"
  std::chrono::nanoseconds since{};
  ThingsByKind things;

  /// "'passnet author' (pid 4711, since 8 min)"; the user stands in it where it is another one.
  std::string text() const;
};

/// A ticket of this process; ends with it.
class OwnTicket {
 public:
  enum class State { Waits, Holds };
  /// Errors: Io.
  static Result<OwnTicket> publish(const LockDirectory& directory, State state, const std::string& command,
                                   const ThingsByKind& things);
  OwnTicket() = default;
  OwnTicket(OwnTicket&& other) noexcept = default;
  OwnTicket& operator=(OwnTicket&& other) noexcept;
  ~OwnTicket() { end(); }

  const std::string& name() const { return name_; }

 private:
  void end();
  UniqueFd directory_, file_;
  std::string name_;
};

struct LockQueue {
  std::vector<Ticket> waiting;  // the first come first
  std::vector<Ticket> holding;
};
/// Those of living processes. Removes what ended processes of this user left. A directory that holds more than kMostTickets
/// of them is taken for a flood: nothing is in the queue then, and whoever finds something free takes it.
/// Errors: Io.
Result<LockQueue> read_queue(const LockDirectory& directory);
inline constexpr size_t kMostTickets = 4096;

/// The process that has locked this file with flock, as the system tells it, alone rather than beside others; 0: none, or in
/// a container of its own.
int locking_process(const UniqueFd& file);
/// Whether that process may have made the ticket: its number is in it, and both belong to one user.
bool is_of(const Ticket& ticket, int pid);
/// A process that has no ticket: "'sleep 100' (user mallory, pid 4711)".
std::string describe_process(int pid);

}  // namespace passnet::run
