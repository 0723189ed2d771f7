#include "runtime/cpu/cell/host.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/check.h"
#include "runtime/cpu/cell/cell.h"
#include "runtime/cpu/cell/describe_fault.h"
#include "runtime/cpu/cell/operator_threads.h"
#include "runtime/cpu/cell/sealed_object.h"
#include "runtime/cpu/cell/slots.h"
#include "runtime/device/kernel_fault.h"
#include "runtime/device/ready_launch.h"
#include "runtime/tensor/dtype.h"

namespace passnet::runtime {

namespace {

/// A launch in the form that a cell takes.
struct CellLaunch {
  ReadyLaunch ready;
  cell::Launch launch;
};

CellLaunch make_cell_launch(const pass::Launch& launch, uint32_t kernel) {
  CellLaunch made{make_ready(launch), {}};
  made.launch.kernel = kernel;
  made.launch.tasks = made.ready.tasks;
  made.launch.alone = made.ready.bytes < kAloneBytes ? 1 : 0;
  std::copy(std::begin(made.ready.grid), std::end(made.ready.grid), std::begin(made.launch.grid));
  return made;
}

/// A place of its own between fences.
class FencedBuffer final : public CheckedMemory {
 public:
  FencedBuffer(SlotMemory& memory, size_t slot)
      : memory_(memory),
        slot_(slot),
        bytes_(at::from_blob(memory.data(slot), {static_cast<int64_t>(memory.slots()[slot].used)}, at::kByte)) {}
  ~FencedBuffer() override { memory_.give(slot_); }
  const at::Tensor& bytes() const override { return bytes_; }
  std::optional<int64_t> broken_canary() const override { return memory_.broken_canary(slot_); }

 private:
  SlotMemory& memory_;
  size_t slot_;
  at::Tensor bytes_;
};

class CellHost final : public KernelHost {
 public:
  CellHost(const CellResources& resources, const std::vector<FusedList>& lists)
      : arena_(*resources.arena), lists_(lists) {}

  Result<void> start(const CellResources& resources) {
    CellPlan plan;
    PASSNET_TRY_VOID(collect_kernels(plan));
    std::vector<const pass::LaunchList*> lists;
    for (const FusedList& list : lists_) lists.push_back(&list.launches);
    PASSNET_TRY(slots_, SlotMemory::make(lists));
    plan.slots = slots_->rows();
    plan.slots_fd = slots_->fd();
    plan.slots_size = slots_->size_bytes();
    plan.arena_fd = arena_.fd();
    plan.arena_size = arena_.size_bytes();
    plan.threads = static_cast<uint32_t>(resources.threads);
    plan.processors = resources.processors;
    PASSNET_TRY(cell_, Cell::start(*resources.starter, std::move(plan)));
    return {};
  }

  at::Tensor allocate(size_t list, size_t buffer) override {
    std::optional<size_t> slot = slots_->take(list, buffer);
    if (!slot) {
      // Whoever holds them frees them once what stands in line has run.
      throw KernelFault{"resource", "the outputs of too many calls are held at a time", {}};
    }
    const ir::TensorType& type = lists_[list].launches.buffers[buffer].type;
    return at::detail::empty_strided_generic(type.shape, type.strides, &slots_->allocator_of(*slot),
                                             c10::DispatchKeySet(c10::DispatchKey::CPU), scalar_type(type.dtype));
  }

  std::unique_ptr<CheckedMemory> allocate_checked(size_t list, size_t buffer) override {
    const std::optional<size_t> slot = slots_->take(list, buffer);
    PASSNET_CHECK(slot, "a checked run takes more places than there are");
    slots_->place_at_end(*slot);
    return std::make_unique<FencedBuffer>(*slots_, *slot);
  }

  at::Tensor visible(const at::Tensor& tensor) override {
    const void* data = tensor.data_ptr();
    if (data == nullptr || arena_.holds(data) || slots_->find(data)) return tensor;
    at::Tensor copy = at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options());
    copy.copy_(tensor);
    return copy;
  }

  bool writes_in_place() const override { return false; }

  void launch(size_t list, size_t index, char* const* buffers) override {
    require_cell();
    const auto& [ready, launch] = ready_[list][index];
    passnet_arg* args = cell_->add(launch, static_cast<uint32_t>(ready.args.size()));
    if (args == nullptr) {
      finish();
      args = cell_->add(launch, static_cast<uint32_t>(ready.args.size()));
    }
    std::copy(ready.args.begin(), ready.args.end(), args);
    for (const ReadyLaunch::Pointer& pointer : ready.pointers)
      args[pointer.arg].pointer =
          reinterpret_cast<void*>(in_cell(buffers[pointer.buffer]) + static_cast<uint64_t>(pointer.offset_bytes));
    in_line_.push_back({list, index});
  }

  void finish() override {
    if (in_line_.empty()) return;
    require_cell();
    const auto [list, index] = in_line_.front();
    set_running(&lists_[list].running[index]);
    try {
      cell_->run();
    } catch (const CellFault& fault) {
      set_running(nullptr);
      const std::vector<InLine> line = std::exchange(in_line_, {});
      const std::unique_ptr<Cell> dead = std::exchange(cell_, nullptr);
      throw describe_fault(fault, {lists_, line, *dead, *slots_, arena_});
    }
    set_running(nullptr);
    in_line_.clear();
  }

  void expect_launches() override {
    require_cell();
    // Threads that are told of launches stay awake until these come.
    if (std::ranges::all_of(ready_, &std::vector<CellLaunch>::empty)) return;
    end_operator_threads();
    cell_->alert();
  }
  bool gives_way(bool expected) const override { return cell_ && (!expected || cell_->gives_way()); }
  size_t calls_at_a_time() const override { return slots_->copies(); }
  void renew(size_t calls) override { slots_->renew(calls, poisons); }
  void require_intact() override {
    if (!compares_canaries) return;
    for (size_t slot = 0; slot < slots_->slots().size(); ++slot) {
      if (!slots_->slots()[slot].writable) continue;
      if (const auto broken = slots_->broken_canary(slot))
        throw describe_overrun(lists_, slots_->slots()[slot], *broken);
    }
  }
  int process() const override { return cell_ ? cell_->process() : -1; }

 private:
  Result<void> collect_kernels(CellPlan& plan) {
    std::map<std::tuple<std::string, std::string>, uint32_t> known;  // by object and entry
    size_t launches = 0, args = 0;
    for (const FusedList& list : lists_) {
      ready_.emplace_back();
      for (size_t i = 0; i < list.launches.launches.size(); ++i) {
        const pass::KernelFile& file = list.kernels[i];
        const auto [found, is_new] =
            known.emplace(std::tuple(file.object, file.entry), static_cast<uint32_t>(plan.kernels.size()));
        if (is_new) {
          PASSNET_TRY(UniqueFd object, seal_object(file, list.launches.launches[i].kernel));
          plan.kernels.push_back({std::move(object), file.entry});
        }
        ready_.back().push_back(make_cell_launch(list.launches.launches[i], found->second));
        ++launches;
        args += ready_.back().back().ready.args.size();
      }
    }
    constexpr size_t kMostCalls = 64;
    plan.most_launches = static_cast<uint32_t>(kMostCalls * std::max<size_t>(1, launches));
    plan.most_args = static_cast<uint32_t>(kMostCalls * std::max<size_t>(1, args));
    return {};
  }

  void require_cell() const {
    if (!cell_) throw KernelFault{"crash", "the kernels' process has ended", {}};
  }

  /// An address of ours as the cell has it.
  uint64_t in_cell(const char* memory) const {
    const auto* byte = reinterpret_cast<const std::byte*>(memory);
    if (arena_.holds(byte)) return cell_->arena_base() + static_cast<uint64_t>(byte - arena_.base());
    const std::optional<size_t> slot = slots_->find(byte);
    if (!slot) return 0;  // the memory of an empty tensor
    return cell_->slots()[*slot].base + static_cast<uint64_t>(byte - slots_->base()) - slots_->slots()[*slot].offset;
  }

  Arena& arena_;
  const std::vector<FusedList>& lists_;
  std::vector<std::vector<CellLaunch>> ready_;  // by list and launch
  std::unique_ptr<SlotMemory> slots_;
  std::unique_ptr<Cell> cell_;  // null once it has ended
  std::vector<InLine> in_line_;
};

}  // namespace

Result<std::unique_ptr<KernelHost>> make_cell_host(const CellResources& resources,
                                                   const std::vector<FusedList>& lists) {
  if (resources.starter == nullptr) return bad_input("this worker runs no kernels of passes");
  auto host = std::make_unique<CellHost>(resources, lists);
  PASSNET_TRY_VOID(host->start(resources));
  return std::unique_ptr<KernelHost>(std::move(host));
}

}  // namespace passnet::runtime
