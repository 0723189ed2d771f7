// Starts cells for a worker that cannot start processes itself: a small process, forked before the worker confines
// itself, that does nothing else. Free of torch.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/file/file.h"
#include "base/result.h"

namespace passnet::runtime {

struct StartedCell {
  UniqueFd socket;   // our end of the cell's
  UniqueFd process;  // a pidfd: readable once it has ended
  int id = 0;        // for ask_end
};

struct CellEnd {
  std::string how;            // "exit code 1", "killed by SIGKILL (killed from outside)"
  bool from_outside = false;  // sandbox::ended_from_outside
};

class CellStarter {
 public:
  /// Forks. REQUIRES: this process has one thread. The cell's program lies beside this one (passnet-cell).
  /// Errors: Resource (its program is missing, no process to be had).
  static Result<std::unique_ptr<CellStarter>> fork_off();
  ~CellStarter();  // ends it, and its cells with it
  CellStarter(const CellStarter&) = delete;
  CellStarter& operator=(const CellStarter&) = delete;

  /// Errors: Resource, Io.
  Result<StartedCell> start();
  /// How a cell ended. One that still runs is killed. To be asked once for each.
  CellEnd end(int id);

 private:
  CellStarter() = default;
  UniqueFd socket_;
  pid_t process_ = -1;
};

}  // namespace passnet::runtime
