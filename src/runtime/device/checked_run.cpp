#include "runtime/device/checked_run.h"

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <variant>
#include <vector>

#include "runtime/device/kernel_fault.h"
#include "runtime/tensor/compare.h"
#include "runtime/tensor/dtype.h"

namespace passnet::runtime {

namespace {

/// What torch.empty holds when a kernel is run: random bytes, so that it cannot tell a checked call from another.
class Poison {
 public:
  Poison() : bytes_(kPeriod) {
    std::mt19937_64 random(std::random_device{}());
    for (size_t i = 0; i < kPeriod; i += sizeof(uint64_t)) {
      const uint64_t noise = random();
      std::memcpy(bytes_.data() + i, &noise, std::min(sizeof noise, kPeriod - i));
    }
  }
  /// Differs from this one in every byte.
  Poison opposite() const {
    Poison other;
    for (size_t i = 0; i < kPeriod; ++i)
      other.bytes_[i] = static_cast<unsigned char>(bytes_[i] + 1 + other.bytes_[i] % 255);
    return other;
  }

  /// memory: bytes, contiguous, on any device.
  void fill(const at::Tensor& memory) const {
    const at::Tensor noise =
        at::from_blob(const_cast<unsigned char*>(bytes_.data()), {static_cast<int64_t>(kPeriod)}, at::kByte)
            .to(memory.device());
    for (int64_t done = 0; done < memory.numel(); done += noise.numel()) {
      const int64_t part = std::min(noise.numel(), memory.numel() - done);
      memory.narrow(0, done, part).copy_(noise.narrow(0, 0, part));
    }
  }
  /// Whether `count` bytes of a memory that was filled hold it still; memory: its start.
  bool holds(const char* memory, size_t offset, size_t count) const {
    for (size_t i = offset; i < offset + count; ++i) {
      if (static_cast<unsigned char>(memory[i]) != bytes_[i % kPeriod]) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kPeriod = 65521;  // a prime: no two rows hold the same
  std::vector<unsigned char> bytes_;
};

/// Those of the first run of the kernels and of the second.
struct Poisons {
  Poison first, second = first.opposite();
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

/// Throws KernelFault when elements of output `number` hold the first poison after the first run and the second after
/// the second. first, second: the buffers' memory after each, on the host.
void require_written(const pass::LaunchList& list, size_t number, const Poisons& poisons,
                     const std::vector<at::Tensor>& first, const std::vector<at::Tensor>& second) {
  const pass::View& view = list.outputs[number];
  const pass::Buffer& buffer = list.buffers[view.buffer];
  if (buffer.input >= 0 || buffer.fill) return;
  const auto element = static_cast<size_t>(ir::size_bytes(view.type.dtype));
  const auto* after_first = static_cast<const char*>(first[view.buffer].const_data_ptr());
  const auto* after_second = static_cast<const char*>(second[view.buffer].const_data_ptr());
  std::vector<int64_t> index(view.type.shape.size(), 0), first_index;
  int64_t unwritten = 0;
  for (int64_t n = view.type.numel(); n > 0; --n) {
    int64_t at = view.offset;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * view.type.strides[d];
    const size_t byte = static_cast<size_t>(at) * element;
    if (poisons.first.holds(after_first, byte, element) && poisons.second.holds(after_second, byte, element)) {
      if (unwritten++ == 0) first_index = index;
    }
    for (size_t d = index.size(); d-- > 0 && ++index[d] == view.type.shape[d];) index[d] = 0;
  }
  if (unwritten == 0) return;
  throw KernelFault{
      "unwritten-output",
      fmt::format("pass '{}' leaves {} of {} elements of output {} ({}) unwritten, the first at [{}]", list.pass,
                  unwritten, view.type.numel(), number, ir::to_string(view.type), fmt::join(first_index, ", ")),
      list.launches.empty() ? SourceLoc{} : list.launches.back().at};
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

/// Throws KernelFault for what `launch` did beside writing to its outputs.
void check_after(const KernelHost& host, const pass::LaunchList& list, const pass::Launch& launch, const Copies& copies,
                 const std::vector<at::Tensor>& tensors) {
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
    check_after(host, list.launches, list.launches.launches[i], copies, tensors);
  }
  return copies;
}

std::vector<at::Tensor> on_host(const Copies& copies) {
  std::vector<at::Tensor> host;
  for (const auto& copy : copies) host.push_back(copy->bytes().to(at::kCPU, false, true));
  return host;
}

}  // namespace

void run_checked(Device& device, KernelHost& host, const FusedList& list, size_t number,
                 const std::vector<at::Tensor>& tensors) {
  const Poisons poisons;
  // What the first run left is kept here, so that both find the same places free.
  const std::vector<at::Tensor> first = on_host(run_once(device, host, list, number, tensors, poisons.first));
  const Copies copies = run_once(device, host, list, number, tensors, poisons.second);
  const std::vector<at::Tensor> second = on_host(copies);
  for (size_t i = 0; host.poisons && i < list.launches.outputs.size(); ++i)
    require_written(list.launches, i, poisons, first, second);
  for (size_t i = 0; i < list.launches.buffers.size(); ++i) {
    const at::Tensor& bytes = copies[i]->bytes();
    if (!list.launches.buffers[i].is_read_only()) bytes_of(tensors[i], bytes.numel()).copy_(bytes);
  }
}

}  // namespace passnet::runtime
