#include "runtime/device/checked_run.h"

#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/stack.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <variant>

#include "base/row_major.h"
#include "runtime/device/kernel_fault.h"
#include "runtime/tensor/compare.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/placement.h"

namespace passnet::runtime {

namespace {

using Bytes = std::vector<unsigned char>;
constexpr size_t kPeriod = 65521;  // a prime: no two rows hold the same

Bytes random_bytes() {
  Bytes bytes(kPeriod);
  std::mt19937_64 random(std::random_device{}());
  for (size_t i = 0; i < kPeriod; i += sizeof(uint64_t)) {
    const uint64_t noise = random();
    std::memcpy(bytes.data() + i, &noise, std::min(sizeof noise, kPeriod - i));
  }
  return bytes;
}

/// Random bytes that differ from these in every place.
Bytes others_than(const Bytes& bytes) {
  Bytes others = random_bytes();
  for (size_t i = 0; i < kPeriod; ++i) others[i] = static_cast<unsigned char>(bytes[i] + 1 + others[i] % 255);
  return others;
}

/// What torch.empty holds when a kernel is run: random bytes, so that it cannot tell a checked call from another.
class Poison {
 public:
  /// bytes: kPeriod of them, which it repeats.
  explicit Poison(Bytes bytes)
      : bytes_(at::from_blob(bytes.data(), {static_cast<int64_t>(kPeriod)}, at::TensorOptions(at::kByte))
                   .to(graph_device(), at::kByte, false, true)) {}

  /// memory: bytes, contiguous, where graphs run.
  void fill(const at::Tensor& memory) const {
    const int64_t size = memory.numel(), once = std::min(size, static_cast<int64_t>(kPeriod));
    memory.narrow(0, 0, once).copy_(bytes_.narrow(0, 0, once));
    // Whole periods are doubled.
    for (int64_t done = once; done < size;) {
      const int64_t part = std::min(done, size - done);
      memory.narrow(0, done, part).copy_(memory.narrow(0, 0, part));
      done += part;
    }
  }
  /// Which elements of `size` bytes of a memory that was filled hold it still. [elements], bool, on the memory's device.
  at::Tensor held(const at::Tensor& memory, int64_t size) const {
    // What is compared at a time begins with a period, and with an element.
    constexpr int64_t kAtATime = static_cast<int64_t>(kPeriod) * 16 * 32;
    const at::Tensor elements = as_elements(memory, size);
    const at::Tensor noise = at::empty({std::min(memory.numel(), kAtATime)}, memory.options());
    fill(noise);
    const at::Tensor expected = as_elements(noise, size);
    at::Tensor held = at::empty({elements.size(0)}, memory.options().dtype(at::kBool));
    for (int64_t done = 0; done < elements.size(0); done += expected.size(0)) {
      const int64_t part = std::min(expected.size(0), elements.size(0) - done);
      held.narrow(0, done, part)
          .copy_(elements.narrow(0, done, part).eq(expected.narrow(0, 0, part)).view({part, -1}).all(1));
    }
    return held;
  }

 private:
  /// Integers, one or two to an element.
  static at::Tensor as_elements(const at::Tensor& bytes, int64_t size) {
    const at::ScalarType type = size == 1 ? at::kByte : size == 2 ? at::kShort : size == 4 ? at::kInt : at::kLong;
    return size > 8 ? bytes.view(type).view({-1, size / 8}) : bytes.view(type);
  }

  at::Tensor bytes_;  // [kPeriod], where graphs run
};

/// Those of the first run of the kernels and of the second.
struct Poisons {
  explicit Poisons(const Bytes& bytes = random_bytes()) : first(bytes), second(others_than(bytes)) {}
  Poison first, second;
};

struct ArgumentText {
  const pass::LaunchList& list;
  std::string operator()(const pass::View& view) const {
    const std::string name = buffer_name(list, view.buffer);
    if (view.offset == 0 && view.type == list.buffers[view.buffer].type) return name;
    return fmt::format("{} of {}", ir::to_string(view.type), name);
  }
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(std::monostate) const { return "None"; }
};

}  // namespace

std::string buffer_name(const pass::LaunchList& list, size_t index) {
  const pass::Buffer& buffer = list.buffers[index];
  if (buffer.input >= 0) return fmt::format("input {} ({})", buffer.input, ir::to_string(buffer.type));
  for (size_t i = 0; i < list.outputs.size(); ++i) {
    if (list.outputs[i].buffer == index) return fmt::format("output {} ({})", i, ir::to_string(buffer.type));
  }
  return fmt::format("temporary {} ({})", index, ir::to_string(buffer.type));
}

std::string describe_kernel(const pass::LaunchList& list, const pass::Launch& launch) {
  return fmt::format("kernel '{}' of pass '{}'", launch.kernel, list.pass);
}

std::string describe_launch(const pass::LaunchList& list, const pass::Launch& launch) {
  std::vector<std::string> arguments;
  for (const pass::LaunchArg& arg : launch.args) arguments.push_back(std::visit(ArgumentText{list}, arg));
  const std::string place = launch.at.line == 0 ? "" : fmt::format(" at {}:{}", launch.at.file, launch.at.line);
  return fmt::format("launch {} of {}{}, grid ({}): {}", &launch - list.launches.data() + 1, list.launches.size(),
                     place, fmt::join(launch.grid, ", "), fmt::join(arguments, ", "));
}

namespace {

/// offset_bytes: before the buffer's start (negative) or past its end (0 is the first byte).
KernelFault wrote_outside(const pass::LaunchList& list, const pass::Launch& launch, size_t buffer,
                          int64_t offset_bytes) {
  const std::string where = offset_bytes < 0    ? fmt::format("{} bytes before its start", -offset_bytes)
                            : offset_bytes == 0 ? "the first byte behind its end"
                                                : fmt::format("{} bytes past its end", offset_bytes);
  return {"out-of-bounds",
          fmt::format("{} wrote outside of {}: {}", describe_kernel(list, launch), buffer_name(list, buffer), where),
          launch.at, false, describe_launch(list, launch)};
}

KernelFault changed_input(const pass::LaunchList& list, const pass::Launch& launch, size_t buffer) {
  return {"input-changed", fmt::format("{} changed {}", describe_kernel(list, launch), buffer_name(list, buffer)),
          launch.at, false, describe_launch(list, launch)};
}

/// The memory that a tensor's elements span, as bytes.
at::Tensor bytes_of(const at::Tensor& tensor, int64_t size) {
  return at::from_blob(tensor.data_ptr(), {size}, tensor.options().dtype(at::kByte));
}

using Copies = std::vector<std::unique_ptr<CheckedMemory>>;

/// Inputs, and allocations that the plan filled, start as they are; torch.empty starts as poison.
Copies make_copies(KernelHost& host, const pass::LaunchList& list, size_t number,
                   const std::vector<at::Tensor>& tensors, const Poison& poison) {
  Copies copies;
  for (size_t i = 0; i < list.buffers.size(); ++i) {
    copies.push_back(host.allocate_checked(number, i));
    if (list.buffers[i].input >= 0 || list.buffers[i].fill)
      copies.back()->bytes().copy_(bytes_of(tensors[i], extent_bytes(list.buffers[i].type)));
    else if (host.poisons)
      poison.fill(copies.back()->bytes());
  }
  return copies;
}

/// Tells whether a launch changed nothing that it may not, by one answer of the device for all buffers. False: it did, or each
/// buffer is to be asked.
bool found_intact(const KernelHost& host, const pass::LaunchList& list, const Copies& copies,
                  const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> changed;
  for (size_t i = 0; i < list.buffers.size(); ++i) {
    const at::Tensor overrun = copies[i]->is_overrun(), &bytes = copies[i]->bytes();
    if (!overrun.defined()) return false;
    if (host.compares_canaries) changed.push_back(overrun);
    if (list.buffers[i].is_read_only()) changed.push_back(bytes.ne(bytes_of(tensors[i], bytes.numel())).any());
  }
  return changed.empty() || !at::stack(changed).any().item<bool>();
}

/// Throws KernelFault for what `launch` did beside writing to its outputs.
void check_after(const KernelHost& host, const pass::LaunchList& list, const pass::Launch& launch, const Copies& copies,
                 const std::vector<at::Tensor>& tensors) {
  if (found_intact(host, list, copies, tensors)) return;
  for (size_t i = 0; i < list.buffers.size(); ++i) {
    const auto broken = host.compares_canaries ? copies[i]->broken_canary() : std::nullopt;
    if (broken) throw wrote_outside(list, launch, i, *broken);
    const at::Tensor& bytes = copies[i]->bytes();
    if (list.buffers[i].is_read_only() && !same_bytes(bytes, bytes_of(tensors[i], bytes.numel())))
      throw changed_input(list, launch, i);
  }
}

/// One launch, waited for, so that a kernel that stops the device or does not end is named.
void run_one(Device& device, KernelHost& host, const FusedList& list, size_t number, size_t index,
             char* const* buffers) {
  set_running(&list.running[index]);
  try {
    host.launch(number, index, buffers);
    host.finish();
    device.synchronize();
    set_running(nullptr);
  } catch (KernelFault& fault) {
    set_running(nullptr);
    if (!fault.launch.empty()) throw;
    const pass::Launch& launch = list.launches.launches[index];
    fault.message = fmt::format("{}: {}", describe_kernel(list.launches, launch), fault.message);
    fault.at = launch.at;
    fault.launch = describe_launch(list.launches, launch);
    throw;
  }
}

Copies run_once(Device& device, KernelHost& host, const FusedList& list, size_t number,
                const std::vector<at::Tensor>& tensors, const Poison& poison) {
  Copies copies = make_copies(host, list.launches, number, tensors, poison);
  std::vector<char*> buffers;
  for (const auto& copy : copies) buffers.push_back(static_cast<char*>(copy->bytes().data_ptr()));
  host.expect_launches();
  for (size_t i = 0; i < list.launches.launches.size(); ++i) {
    run_one(device, host, list, number, i, buffers.data());
    if (host.compares_canaries) host.require_same_variables(number, i);
    check_after(host, list.launches, list.launches.launches[i], copies, tensors);
  }
  return copies;
}

/// By output, which elements of its buffer hold poison after a run; undefined: none does, or it never held any.
using Unwritten = std::vector<at::Tensor>;
Unwritten find_unwritten(const pass::LaunchList& list, const Copies& copies, const Poison& poison) {
  Unwritten unwritten(list.outputs.size());
  for (size_t i = 0; i < list.outputs.size(); ++i) {
    const pass::View& view = list.outputs[i];
    const pass::Buffer& buffer = list.buffers[view.buffer];
    if (buffer.input >= 0 || buffer.fill || view.type.numel() == 0) continue;
    unwritten[i] = poison.held(copies[view.buffer]->bytes(), ir::size_bytes(buffer.type.dtype));
    if (!unwritten[i].any().item<bool>()) unwritten[i].reset();
  }
  return unwritten;
}

/// Throws KernelFault when elements of output `number` held the first poison after the first run and the second after
/// the second.
void require_written(const pass::LaunchList& list, size_t number, const at::Tensor& after_first,
                     const at::Tensor& after_second) {
  if (!after_first.defined() || !after_second.defined()) return;
  const pass::View& view = list.outputs[number];
  const at::Tensor unwritten =
      at::as_strided(after_first.logical_and(after_second), view.type.shape, view.type.strides, view.offset)
          .contiguous();
  const auto count = unwritten.sum().item<int64_t>();
  if (count == 0) return;
  const std::vector<int64_t> first =
      index_of(unwritten.view(-1).view(at::kByte).argmax().item<int64_t>(), view.type.shape);
  throw KernelFault{
      "unwritten-output",
      fmt::format("pass '{}' leaves {} of {} elements of output {} ({}) unwritten, the first at [{}]", list.pass, count,
                  view.type.numel(), number, ir::to_string(view.type), fmt::join(first, ", ")),
      list.launches.empty() ? SourceLoc{} : list.launches.back().at};
}

}  // namespace

void run_checked(Device& device, KernelHost& host, const FusedList& list, size_t number,
                 const std::vector<at::Tensor>& tensors) {
  const Poisons poisons;
  const auto run = [&](const Poison& poison, Unwritten& unwritten) {
    Copies copies = run_once(device, host, list, number, tensors, poison);
    if (host.poisons) unwritten = find_unwritten(list.launches, copies, poison);
    return copies;
  };
  Unwritten first, second;
  // What the first run left is gone before the second, so that both find the same places free.
  run(poisons.first, first).clear();
  const Copies copies = run(poisons.second, second);
  for (size_t i = 0; host.poisons && i < list.launches.outputs.size(); ++i)
    require_written(list.launches, i, first[i], second[i]);
  for (size_t i = 0; i < list.launches.buffers.size(); ++i) {
    const at::Tensor& bytes = copies[i]->bytes();
    if (!list.launches.buffers[i].is_read_only()) bytes_of(tensors[i], bytes.numel()).copy_(bytes);
  }
}

}  // namespace passnet::runtime
