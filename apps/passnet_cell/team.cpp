#include "team.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <new>

#include "faults.h"
#include "lock.h"

namespace passnet::cell {

namespace {

constexpr int64_t kChunksPerThread = 4;  // enough to even out tasks of unequal cost

Team team;

/// The launch that is open to helpers. All of this is the cell's own: a kernel that writes to it harms its own result.
struct Job {
  passnet_run_fn run = nullptr;
  passnet_launch launch{};
  int64_t tasks = 0, chunk = 1;
};
Job job;  // written while the gate is closed

/// The chunks of a launch that a thread takes first, in order: each launch's the same, so that it finds in its caches what it
/// read and wrote in the one before. Others take what is left of them from the end.
struct alignas(64) Share {
  std::atomic<uint64_t> left{0};  // first chunk of them in the upper half, the one past the last in the lower
};
Share* shares = nullptr;  // one for each thread

constexpr uint32_t kOpen = 1u << 31;
alignas(64) std::atomic<uint32_t> gate;    // kOpen while helpers may join, plus how many did
alignas(64) std::atomic<uint32_t> left;    // helpers that joined and are done
alignas(64) std::atomic<uint32_t> opened;  // launches that were opened to helpers
alignas(64) std::atomic<uint32_t> over;    // the last program that is over

void pause() { __builtin_ia32_pause(); }

/// Whether something is left in the tiles of the matrix unit, where the next launch would find it. A thread that never used
/// them is cheaper to wake than one that did, so they are not cleared without need.
bool tiles_in_use() {
  constexpr uint32_t kStateInUse = 1, kTiles = 3u << 17;
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(kStateInUse));
  return (low & kTiles) != 0;
}

/// What a kernel may have changed of how its thread computes.
void restore_arithmetic() {
  constexpr uint32_t kUsual = 0x1f80;
  asm volatile("cld\n\tfninit\n\tldmxcsr %0" : : "m"(kUsual) : "memory");
  if (team.matrix_unit && tiles_in_use()) asm volatile("tilerelease");
}

/// Bytes of stack below the caller of a kernel that are overwritten after each launch. Two pages leave no gap to the pages that
/// give_back_stack() frees, which end at a page's edge.
constexpr size_t kPage = 4096, kNearStack = 2 * kPage;
thread_local uintptr_t stack_end;  // the lowest address of this thread's stack; 0: not known

/// Best effort: without it a stack is cleared as far as kNearStack.
void note_stack() {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  size_t size = 0;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return;
  if (::pthread_attr_getstack(&attributes, &lowest, &size) == 0) stack_end = reinterpret_cast<uintptr_t>(lowest);
  ::pthread_attr_destroy(&attributes);
}

/// Overwrites what a launch left near the top of its stack. Not inlined: its frame lies where the frames of the kernel lay.
[[gnu::noinline]] void clear_near_stack() {
  char left[kNearStack];
  std::memset(left, 0, sizeof left);
  asm volatile("" : : "r"(left) : "memory");
}

/// Frees the pages farther down that the launches of a program used. If none were used, the call is short.
[[gnu::noinline]] void give_back_stack() {
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const uintptr_t end = (here - kPage) & ~uintptr_t{kPage - 1};
  if (stack_end == 0 || end <= stack_end) return;
  // Ignores an error: the call fails on pages that were never mapped, and frees all others.
  ::syscall(SYS_madvise, stack_end, end - stack_end, MADV_DONTNEED);
}

/// Ends a launch: the next one finds neither its rounding mode nor its stack.
void end_launch() {
  restore_arithmetic();
  clear_near_stack();
}

/// Awake as long as helpers are alerted and have no turn after `seen`.
void await_alert_over(uint32_t seen) {
  if (team.control->alert.load(std::memory_order_acquire) == 0) return;
  team.control->awake.fetch_add(1, std::memory_order_release);
  while (team.control->alert.load(std::memory_order_relaxed) != 0 &&
         team.control->helper_turn.load(std::memory_order_acquire) == seen)
    pause();
}

/// The turn after `seen`.
uint32_t await_turn(std::atomic<uint32_t>& turn, uint32_t seen, Bell bell) {
  while (true) {
    // Looked at first: whoever is woken for what is set after that does not fall asleep.
    const uint32_t door = team.control->door.load(std::memory_order_acquire);
    if (bell == kHelpers) await_alert_over(seen);
    const uint32_t now = turn.load(std::memory_order_acquire);
    if (now != seen) return now;
    ::syscall(SYS_futex, &team.control->door, FUTEX_WAIT_BITSET, door, nullptr, nullptr, bell);
  }
}

uint64_t range_of(uint32_t first, uint32_t past) { return uint64_t{first} << 32 | past; }

void share_out() {
  const auto chunks = static_cast<uint64_t>((job.tasks + job.chunk - 1) / job.chunk);
  const auto begin_of = [&](uint64_t thread) { return static_cast<uint32_t>(chunks * thread / team.threads); };
  for (uint32_t i = 0; i < team.threads; ++i)
    shares[i].left.store(range_of(begin_of(i), begin_of(i + 1)), std::memory_order_relaxed);
}

/// Takes a chunk of a share: its owner the first, others the last. Returns: its number; -1: there is none.
int64_t take_chunk(Share& share, bool own) {
  uint64_t range = share.left.load(std::memory_order_relaxed);
  while (true) {
    const auto first = static_cast<uint32_t>(range >> 32), past = static_cast<uint32_t>(range);
    if (first >= past) return -1;
    const uint64_t rest = own ? range_of(first + 1, past) : range_of(first, past - 1);
    if (share.left.compare_exchange_weak(range, rest, std::memory_order_relaxed)) return own ? first : past - 1;
  }
}

void take_chunks(uint32_t thread) {
  for (uint32_t i = 0; i < team.threads; ++i) {
    Share& share = shares[(thread + i) % team.threads];
    for (int64_t chunk; (chunk = take_chunk(share, i == 0)) >= 0;) {
      const int64_t first = chunk * job.chunk, last = first + job.chunk;
      job.run(&job.launch, first, last < job.tasks ? last : job.tasks);
    }
  }
  end_launch();
}

/// Enters the launch that is open. The gate counts who is inside, so the first thread waits for those and for no one
/// else.
bool join() {
  uint32_t state = gate.load(std::memory_order_acquire);
  while (state & kOpen) {
    if (gate.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel, std::memory_order_acquire)) return true;
  }
  return false;
}

void help(uint32_t thread, uint32_t turn) {
  uint32_t seen = 0;
  while (over.load(std::memory_order_acquire) != turn) {
    const uint32_t now = opened.load(std::memory_order_acquire);
    if (now == seen) {
      pause();
      continue;
    }
    seen = now;
    if (!join()) continue;
    take_chunks(thread);
    left.fetch_add(1, std::memory_order_release);
  }
}

void run_with_helpers(uint32_t thread) {
  share_out();
  left.store(0, std::memory_order_relaxed);
  gate.store(kOpen, std::memory_order_release);
  opened.fetch_add(1, std::memory_order_release);
  take_chunks(thread);
  const uint32_t joined = gate.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
  while (left.load(std::memory_order_acquire) != joined) pause();
}

void run_program(uint32_t thread) {
  const Launch* launches = launches_of(team.program);
  const passnet_arg* args = args_of(team.program);
  for (uint32_t i = 0; i < team.program->launches; ++i) {
    const Launch& launch = launches[i];
    team.control->running.store(i, std::memory_order_relaxed);
    job.run = team.kernels[launch.kernel];
    job.launch.args = args + launch.args;
    for (int axis = 0; axis < 3; ++axis) job.launch.grid[axis] = launch.grid[axis];
    const bool shared = !launch.alone && launch.tasks > 1 && team.threads > 1;
    job.launch.threads = shared ? team.threads : 1;
    job.launch.matrix_unit = team.matrix_unit;
    job.tasks = launch.tasks;
    const int64_t chunks = static_cast<int64_t>(team.threads) * kChunksPerThread;
    job.chunk = launch.tasks > chunks ? launch.tasks / chunks : 1;
    if (shared) {
      run_with_helpers(thread);
    } else if (launch.tasks > 0) {
      job.run(&job.launch, 0, launch.tasks);
      end_launch();
    }
  }
}

/// Best effort: a processor that is not ours leaves the thread where it is.
void bind_to(int32_t processor) {
  if (processor < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

/// A worker that watches sees `done` itself; it says so before it sleeps.
void tell_done() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (team.control->dozes.load(std::memory_order_relaxed) != 0)
    ::syscall(SYS_futex, &team.control->done, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// What a thread does in a program that it is woken for.
void take_part(uint32_t thread, uint32_t turn) {
  if (thread != team.program->leader) {
    help(thread, turn);
    // The worker may sleep on the processor of the first thread, which is awake as yet.
    if (thread == 0) tell_done();
    return;
  }
  run_program(thread);
  team.control->done.store(turn, std::memory_order_release);
  over.store(turn, std::memory_order_release);
  // Where the first thread takes part too, it tells: woken while that is awake, the worker would take its processor from it
  // and wait until it may go to sleep.
  if (thread == 0 || team.control->first_turn.load(std::memory_order_acquire) != turn) tell_done();
}

/// Helpers that are ready for lock().
std::atomic<uint32_t> ready;

void* help_for_ever(void* processor) {
  bind_to(*static_cast<const int32_t*>(processor));
  note_stack();
  drop_clock();
  take_fault_stack();
  // Helpers have their numbers in the order in which they are ready: any of them can lead.
  const uint32_t thread = ready.fetch_add(1, std::memory_order_release) + 1;
  uint32_t turn = 0;
  while (true) {
    turn = await_turn(team.control->helper_turn, turn, kHelpers);
    take_part(thread, turn);
    give_back_stack();
  }
  return nullptr;
}

}  // namespace

const char* start_team(const Team& members, const int32_t* processors) {
  team = members;
  shares = new (std::nothrow) Share[team.threads];
  if (shares == nullptr) return "no memory";
  bind_to(processors[0]);
  note_stack();
  drop_clock();
  take_fault_stack();
  for (uint32_t i = 1; i < team.threads; ++i) {
    pthread_t thread;
    if (::pthread_create(&thread, nullptr, help_for_ever, const_cast<int32_t*>(processors + i)) != 0)
      return "the machine gives no further thread";
  }
  while (ready.load(std::memory_order_acquire) != team.threads - 1) ::sched_yield();
  return nullptr;
}

void run_programs() {
  uint32_t turn = 0;
  while (true) {
    turn = await_turn(team.control->first_turn, turn, kFirst);
    take_part(0, turn);
    give_back_stack();
  }
}

}  // namespace passnet::cell
