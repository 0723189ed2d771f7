#include "runtime/cpu/cell/cell.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <utility>

#include "runtime/device/counter.h"
#include "sandbox/descriptors.h"

namespace passnet::runtime {

namespace {

constexpr uint64_t kFence = uint64_t{64} << 20;  // so that a wrong stride or index far outside is caught too

struct SharedPages {
  UniqueFd fd;
  void* memory = nullptr;
};

Result<SharedPages> make_pages(const char* name, uint64_t size) {
  SharedPages pages;
  pages.fd = UniqueFd(::memfd_create(name, MFD_CLOEXEC));
  if (!pages.fd || ::ftruncate(pages.fd.get(), static_cast<off_t>(size)) != 0)
    return io_error("create", "the memory shared with a cell", errno);
  pages.memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, pages.fd.get(), 0);
  if (pages.memory == MAP_FAILED) return resource_error("no memory to share with a cell");
  return pages;
}

long futex(std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* timeout, uint32_t bits = 0) {
  return ::syscall(SYS_futex, &word, operation, value, timeout, nullptr, bits);
}

/// Wakes those who look at what was set before.
void wake(cell::Control& control, cell::Bell bell) {
  control.door.fetch_add(1, std::memory_order_release);
  futex(control.door, FUTEX_WAKE_BITSET, INT_MAX, nullptr, bell);
}

/// How many threads sleep on `word`: all of them are moved from this word to this word.
long sleepers(std::atomic<uint32_t>& word) {
  const uint32_t value = word.load(std::memory_order_relaxed);
  return ::syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE, 0, static_cast<long>(INT_MAX), &word, value);
}

ProgramShape shape_of(const cell::Program& program) {
  const cell::Launch& first = *cell::launches_of(&program);
  return {program.launches, first.kernel, first.tasks};
}

bool has_ended(int process) {
  pollfd poll{process, POLLIN, 0};
  return ::poll(&poll, 1, 0) > 0;
}

/// The table with what the cell is to set up.
void fill_table(const CellPlan& plan, uint64_t program_size, cell::Table& table) {
  auto* bytes = reinterpret_cast<char*>(&table);
  table.arena_size = plan.arena_size;
  table.slots_size = plan.slots_size;
  table.program_size = program_size;
  table.fence = kFence;
  auto* kernels = reinterpret_cast<cell::KernelRow*>(bytes + cell::kernels_at());
  for (size_t i = 0; i < plan.kernels.size(); ++i)
    std::strncpy(kernels[i].entry, plan.kernels[i].entry.c_str(), sizeof kernels[i].entry - 1);
  if (!plan.slots.empty())
    std::memcpy(bytes + cell::slots_at(table), plan.slots.data(), plan.slots.size() * sizeof(cell::SlotRow));
  auto* processors = reinterpret_cast<int32_t*>(bytes + cell::processors_at(table));
  for (uint32_t i = 0; i < plan.threads; ++i) processors[i] = i < plan.processors.size() ? plan.processors[i] : -1;
}

}  // namespace

Result<std::unique_ptr<Cell>> Cell::start(CellStarter& starter, CellPlan plan) {
  std::unique_ptr<Cell> cell(new Cell(plan.threads));
  cell->starter_ = &starter;
  cell->most_args_ = plan.most_args;
  cell->program_size_ =
      sizeof(cell::Program) + plan.most_launches * sizeof(cell::Launch) + plan.most_args * sizeof(passnet_arg);
  PASSNET_TRY(const SharedPages control, make_pages("passnet-control", sizeof(cell::Control)));
  cell->control_ = static_cast<cell::Control*>(control.memory);
  PASSNET_TRY(const SharedPages program, make_pages("passnet-program", cell->program_size_));
  cell->program_ = static_cast<cell::Program*>(program.memory);
  cell->program_->most_launches = plan.most_launches;

  cell::Table sizes{};
  sizes.threads = plan.threads;
  sizes.kernels = static_cast<uint32_t>(plan.kernels.size());
  sizes.slots = static_cast<uint32_t>(plan.slots.size());
  const uint64_t table_size = cell::size_of(sizes);
  PASSNET_TRY(const SharedPages shared, make_pages("passnet-table", table_size));
  auto& table = *static_cast<cell::Table*>(shared.memory);
  table = sizes;
  fill_table(plan, cell->program_size_, table);

  PASSNET_TRY(cell->started_, starter.start());
  const int socket = cell->started_.socket.get();
  std::array<int, cell::kFds> fds{};
  fds[cell::kTableFd] = shared.fd.get();
  fds[cell::kControlFd] = control.fd.get();
  fds[cell::kProgramFd] = program.fd.get();
  fds[cell::kArenaFd] = plan.arena_fd;
  fds[cell::kSlotsFd] = plan.slots_fd;
  const char byte = 0;
  bool told = sandbox::send_with_descriptors(socket, &byte, 1, fds);
  for (const CellKernel& kernel : plan.kernels)
    told = told && sandbox::send_with_descriptors(socket, &byte, 1, std::array{kernel.object.get()});
  char answer = 0;
  told = told && sandbox::receive_with_descriptors(socket, &answer, 1);
  const std::string problem(table.problem, ::strnlen(table.problem, sizeof table.problem));
  const auto* bytes = static_cast<const char*>(shared.memory);
  const auto* slots = reinterpret_cast<const cell::SlotRow*>(bytes + cell::slots_at(sizes));
  cell->slots_.assign(slots, slots + sizes.slots);
  const auto* kernels = reinterpret_cast<const cell::KernelRow*>(bytes + cell::kernels_at());
  cell->kernels_.assign(kernels, kernels + sizes.kernels);
  cell->arena_base_ = table.arena_base;
  ::munmap(shared.memory, table_size);
  if (!problem.empty()) return bad_pass(fmt::format("kernels cannot be loaded: {}", problem));
  if (!told) return resource_error(fmt::format("a cell could not be set up: {}", starter.end(cell->started_.id).how));
  return cell;
}

Cell::~Cell() {
  if (control_ != nullptr) ::munmap(control_, sizeof *control_);
  if (program_ != nullptr) ::munmap(program_, program_size_);
  if (started_.process && !ended_) (void)starter_->end(started_.id);
}

passnet_arg* Cell::add(const cell::Launch& launch, uint32_t args) {
  if (program_->launches == program_->most_launches || args > most_args_ - args_) return nullptr;
  auto* launches = const_cast<cell::Launch*>(cell::launches_of(program_));
  cell::Launch& added = launches[program_->launches++];
  added = launch;
  added.args = args_;
  args_ += args;
  shared_ = shared_ || (!launch.alone && launch.tasks > 1);
  return const_cast<passnet_arg*>(cell::args_of(program_)) + added.args;
}

void Cell::alert() {
  constexpr std::chrono::microseconds kMostUntilAwake{500};
  if (threads_ < 2) return;
  control_->awake.store(0, std::memory_order_relaxed);
  control_->alert.store(1, std::memory_order_release);
  wake(*control_, cell::kHelpers);
  const auto begin = now();
  do {
    // A processor that slept takes as long to wake up as a short launch runs.
    alerted_ = control_->awake.load(std::memory_order_acquire) == threads_ - 1;
  } while (!alerted_ && now() - begin < kMostUntilAwake);
}

void Cell::run() {
  const auto begin = now();
  const uint32_t turn = ++turn_;
  const bool helper_leads = std::exchange(alerted_, false);
  program_->leader = helper_leads ? 1 : 0;
  const ProgramShape shape = shape_of(*program_);
  Joining& joining = helper_leads ? first_joins_ : helpers_join_;
  const bool is_shared = shared_ && threads_ > 1, joins = is_shared && joining.joins(shape);
  if (helper_leads || joins) control_->helper_turn.store(turn, std::memory_order_release);
  control_->alert.store(0, std::memory_order_release);
  bool first_takes_part = !helper_leads;
  if (helper_leads) {
    // The first thread joins what takes long in any case; then this processor is its own.
    first_takes_part = joins || (!watch(turn) && is_shared);
  } else if (joins) {
    wake(*control_, cell::kHelpers);
  }
  if (first_takes_part) wake_first(turn);
  await_rest(turn, first_takes_part);
  if (is_shared) {
    const std::chrono::duration<double, std::micro> took = now() - begin;
    joining.note(shape, joins, took.count());
  }
  gives_way_ = is_shared && helper_leads && joining.joins(shape);
  clear();
}

void Cell::wake_first(uint32_t turn) {
  control_->first_turn.store(turn, std::memory_order_release);
  wake(*control_, cell::kFirst);
}

/// Looks without sleeping, while a helper leads, as long as short programs take. Returns: whether it is over, or failed.
bool Cell::watch(uint32_t turn) {
  constexpr std::chrono::microseconds kMostWatched{2000};
  const auto begin = now();
  while (control_->done.load(std::memory_order_acquire) != turn) {
    if (control_->fault.signal.load(std::memory_order_acquire) != 0) return true;
    if (now() - begin > kMostWatched) return false;
  }
  return true;
}

bool Cell::is_at_rest() { return sleepers(control_->door) == static_cast<long>(threads_); }

void Cell::await_rest(uint32_t turn, bool first_took_part) {
  constexpr int kLooksBeforeYielding = 64;
  constexpr timespec kLook{0, 20'000'000};  // how often it is looked whether the cell lives
  while (true) {
    const uint32_t done = control_->done.load(std::memory_order_seq_cst);
    if (control_->fault.signal.load(std::memory_order_acquire) != 0) tell_fault();
    if (done == turn) break;
    // Said before `done` is looked at once more: the cell looks at this after it has set that.
    if (control_->dozes.exchange(1, std::memory_order_seq_cst) == 0) continue;
    if (futex(control_->done, FUTEX_WAIT, done, &kLook) != 0 && errno == ETIMEDOUT && has_ended(started_.process.get()))
      tell_fault();
  }
  control_->dozes.store(0, std::memory_order_relaxed);
  // What `done` says is the kernel's own word; that all its threads sleep is the system's.
  const auto said = now();
  for (int tries = 0; !is_at_rest(); ++tries) {
    // Helpers have processors of their own, where they go to sleep in less time than it takes to yield this one.
    if (first_took_part || tries >= kLooksBeforeYielding) ::sched_yield();
    if (tries % 1024 != 1023) continue;
    if (has_ended(started_.process.get())) tell_fault();
    if (now() - said > kMostUntilRest) tell_restless();
  }
}

uint32_t Cell::running() const { return control_->running.load(std::memory_order_relaxed); }

void Cell::tell_restless() {
  CellFault fault;
  fault.restless = true;
  fault.launch = running();
  fault.ended = starter_->end(started_.id);
  ended_ = true;
  throw fault;
}

void Cell::tell_fault() {
  const cell::Fault& told = control_->fault;
  CellFault fault;
  fault.signal = static_cast<int>(told.signal.load(std::memory_order_acquire));
  fault.code = told.code;
  fault.launch = told.launch;
  fault.address = told.address;
  fault.at = told.at;
  fault.called_by = told.called_by;
  // It ends itself once it has told.
  pollfd poll{started_.process.get(), POLLIN, 0};
  (void)::poll(&poll, 1, 1000);
  fault.ended = starter_->end(started_.id);
  ended_ = true;
  throw fault;
}

}  // namespace passnet::runtime
