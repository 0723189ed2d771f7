// A running cell (cell/control.h): it is handed programs of launches and waited for. Free of torch.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"
#include "cell/control.h"
#include "runtime/cpu/cell/joining.h"
#include "runtime/cpu/cell/starter.h"

namespace passnet::runtime {

/// The object of a kernel, sealed, and its function.
struct CellKernel {
  UniqueFd object;
  std::string entry;
};

/// What a cell is started with.
struct CellPlan {
  std::vector<CellKernel> kernels;
  std::vector<cell::SlotRow> slots;  // base is filled in
  int slots_fd = -1, arena_fd = -1;
  uint64_t slots_size = 0, arena_size = 0;
  uint32_t most_launches = 0, most_args = 0;  // of one program
  uint32_t threads = 1;
  std::vector<int> processors;  // one per thread, or empty
};

/// What ended a cell, as far as that can be known: all but `ended` is what the cell itself left behind.
struct CellFault {
  int signal = 0;  // 0: it said nothing
  int code = 0;    // si_code
  uint32_t launch = 0;
  uint64_t address = 0, at = 0, called_by = 0;
  bool restless = false;  // it said that it was done, and a thread of it did not sleep
  CellEnd ended;
};

/// How long after its last word a cell may take until all its threads sleep. An honest one needs microseconds, and some
/// milliseconds when another process has the processor of a thread.
inline constexpr std::chrono::seconds kMostUntilRest{2};

class Cell {
 public:
  /// Returns once it is locked in but for its first turn. starter outlives the cell.
  /// Errors: Resource; BadPass: a kernel's object cannot be loaded.
  static Result<std::unique_ptr<Cell>> start(CellStarter& starter, CellPlan plan);
  ~Cell();
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  uint64_t arena_base() const { return arena_base_; }
  const std::vector<cell::SlotRow>& slots() const { return slots_; }
  const std::vector<cell::KernelRow>& kernels() const { return kernels_; }
  uint32_t threads() const { return threads_; }
  /// A pidfd.
  int process() const { return started_.process.get(); }

  /// Puts a launch at the end of the program; room for `args` arguments, which the caller fills.
  /// Returns: null when the program is full.
  passnet_arg* add(const cell::Launch& launch, uint32_t args);
  /// What was added since the last run().
  const cell::Program* program() const { return program_; }
  void clear() {
    program_->launches = 0;
    args_ = 0;
    shared_ = false;
  }

  /// Wakes the helpers, which wait for the next run() without sleeping: one of them then leads it. Costs nothing of what
  /// follows.
  void alert();
  /// Whether the next run(), of a program like the last and after an alert(), will leave this thread's processor to the first
  /// thread.
  bool gives_way() const { return gives_way_; }
  /// Runs the program and returns when all threads of the cell sleep again; the program is empty then. Throws CellFault.
  void run();
  /// The launch that the cell says it is at.
  uint32_t running() const;

 private:
  explicit Cell(uint32_t threads) : threads_(threads) {}
  void wake_first(uint32_t turn);
  bool watch(uint32_t turn);
  bool is_at_rest();
  void await_rest(uint32_t turn, bool first_took_part);
  [[noreturn]] void tell_fault();
  [[noreturn]] void tell_restless();

  CellStarter* starter_ = nullptr;
  StartedCell started_;
  cell::Control* control_ = nullptr;
  cell::Program* program_ = nullptr;
  uint64_t program_size_ = 0;
  uint32_t most_args_ = 0, args_ = 0, threads_;
  Joining first_joins_;   // what a helper leads
  Joining helpers_join_;  // what the first thread leads
  uint32_t turn_ = 0;     // the last program
  bool shared_ = false;   // a launch of the program is shared among the threads
  bool alerted_ = false;  // all helpers are awake
  bool gives_way_ = false;
  bool ended_ = false;
  uint64_t arena_base_ = 0;
  std::vector<cell::SlotRow> slots_;
  std::vector<cell::KernelRow> kernels_;
};

}  // namespace passnet::runtime
