// What a worker and its cell share: plain data in shared memory. The cell (apps/passnet_cell) is the process that kernels
// of passes run in on the CPU. It holds their code, their buffers and these pages, and can only compute and wait. The
// worker trusts nothing that it reads here but for what it tells people of a fault.
//
// A hand-over: the worker writes a program, and its number to the turns of the threads that are to run it; the thread that
// leads it runs the launches with those who help, sets `done`, and all go to sleep at the door again. That they sleep is
// the only sign that a program is over, and the kernel gives it (the worker counts sleepers), so it cannot be forged: the
// cell has no other threads, cannot wake its own, and cannot wait for a time.
//
// The first thread has the processor of the worker's own thread, so to wake it takes no other processor out of its sleep;
// a helper that is awake already begins at once, while the worker watches.
#pragma once

#include <passnet/abi.h>

#include <atomic>
#include <cstdint>

namespace passnet::cell {

/// One launch as the cell runs it.
struct Launch {
  uint32_t kernel = 0;  // index among the cell's kernels
  uint32_t alone = 0;   // 1: by the first thread alone
  uint64_t args = 0;    // its first argument in the program's; pointers are addresses in the cell
  int64_t tasks = 0;    // of the whole grid
  int64_t grid[3] = {1, 1, 1};
};

/// Launches in order. The worker writes it, the cell can only read it: this header, then `most_launches` launches, then
/// the arguments.
struct Program {
  uint32_t launches = 0;
  uint32_t most_launches = 0;
  uint64_t leader = 0;  // the thread that runs it, of all of the cell; the others that are woken help
};
inline const Launch* launches_of(const Program* program) { return reinterpret_cast<const Launch*>(program + 1); }
inline const passnet_arg* args_of(const Program* program) {
  return reinterpret_cast<const passnet_arg*>(launches_of(program) + program->most_launches);
}

/// Why the cell ended, as it says itself. signal is written last.
struct Fault {
  int32_t code;        // si_code
  uint32_t launch;     // of the program
  uint64_t address;    // si_addr; of SIGSYS the number of the system call
  uint64_t at;         // where the processor was
  uint64_t called_by;  // the first word of the stack, a return address where a leaf function was called
  std::atomic<uint32_t> signal;
};

/// Who is woken at the door: bits of a futex.
enum Bell : uint32_t { kFirst = 1, kHelpers = 2 };

/// Written by both.
struct Control {
  alignas(64) std::atomic<uint32_t> door;         // all threads of the cell sleep here; changes before any is woken
  alignas(64) std::atomic<uint32_t> first_turn;   // the last program of the first thread
  alignas(64) std::atomic<uint32_t> helper_turn;  // the last program of the helpers
  alignas(64) std::atomic<uint32_t> done;         // the last program that is over; the worker sleeps here
  alignas(64) std::atomic<uint32_t> dozes;        // not 0: the worker may sleep on `done`, and is to be woken
  alignas(64) std::atomic<uint32_t> alert;        // not 0: helpers that are awake wait for their turn without sleeping
  alignas(64) std::atomic<uint32_t> awake;        // helpers that saw the alert
  alignas(64) std::atomic<uint32_t> running;      // launch of the program that runs
  Fault fault;
};

inline constexpr size_t kMostEntryName = 256;

struct KernelRow {
  char entry[kMostEntryName];  // "passnet_run_NAME"
  uint64_t begin, end;         // where its object lies in the cell; the cell fills this in
};

/// A part of the slots' memory that the cell maps, with a fence before and after it.
struct SlotRow {
  uint64_t offset, size;  // in the slots' memory; multiples of a page
  uint64_t writable;      // 0: read-only
  uint64_t base;          // its address in the cell; the cell fills this in
};

/// What the cell is to set up, in memory that it gives back before it locks itself: this header, `threads` processors
/// (int32_t, -1: bound to none), `kernels` rows, `slots` rows.
struct Table {
  uint32_t threads, kernels, slots;
  uint64_t arena_size, slots_size, program_size;  // bytes
  uint64_t fence;                                 // bytes of nothing around each slot
  uint64_t arena_base;                            // the cell fills this in
  char problem[512];                              // why it could not set up; empty: it could
};
/// The rows stand at multiples of 64 bytes.
inline constexpr uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }
inline uint64_t kernels_at() { return round_up(sizeof(Table), 64); }
inline uint64_t slots_at(const Table& table) { return kernels_at() + round_up(table.kernels * sizeof(KernelRow), 64); }
inline uint64_t processors_at(const Table& table) {
  return slots_at(table) + round_up(table.slots * sizeof(SlotRow), 64);
}
inline uint64_t size_of(const Table& table) {
  return round_up(processors_at(table) + table.threads * sizeof(int32_t), 4096);
}

/// The cell's end of a SOCK_SEQPACKET pair. It gets one message with the descriptors of table, control, program, arena
/// and slots, then one for each kernel with its object's; it answers with one byte once it is set up or has a problem.
inline constexpr int kSocket = 3;
enum : int { kTableFd, kControlFd, kProgramFd, kArenaFd, kSlotsFd, kFds };

}  // namespace passnet::cell
