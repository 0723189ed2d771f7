#include "runtime/kernel_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "runtime/dtype.h"
#include "runtime/fault_report.h"
#include "runtime/fenced_memory.h"
#include "runtime/launch_ready.h"

namespace passnet::runtime {

namespace {

constexpr unsigned char kPoisons[] = {0xA5, 0x5A};

/// How messages call a buffer: by what the plan returned it as or got it as.
std::string buffer_name(const pass::LaunchList& list, size_t index) {
  const pass::Buffer& buffer = list.buffers[index];
  if (buffer.input >= 0) return fmt::format("input {} ({})", buffer.input, ir::to_string(buffer.type));
  for (size_t i = 0; i < list.outputs.size(); ++i) {
    if (list.outputs[i].buffer == index) return fmt::format("output {} ({})", i, ir::to_string(buffer.type));
  }
  return fmt::format("temporary {} ({})", index, ir::to_string(buffer.type));
}

/// All buffers of one run in fenced memory.
struct Copies {
  std::vector<FencedMemory> memory;
  std::vector<char*> pointers;
  std::vector<uint64_t> hashes;  // of inputs
};

Copies make_copies(const pass::LaunchList& list, const std::vector<at::Tensor>& tensors,
                   unsigned char poison) {
  Copies copies;
  clear_fences();
  for (size_t i = 0; i < list.buffers.size(); ++i) {
    const auto bytes = static_cast<size_t>(extent_bytes(list.buffers[i].type));
    copies.memory.emplace_back(bytes);
    std::byte* data = copies.memory.back().data();
    // Inputs, and allocations that the plan filled, start as they are; torch.empty starts as poison.
    const bool filled = list.buffers[i].input >= 0 || list.buffers[i].fill.has_value();
    if (filled) {
      std::memcpy(data, tensors[i].data_ptr(), bytes);
    } else {
      std::memset(data, poison, bytes);
    }
    copies.memory.back().announce(buffer_name(list, i));
    copies.pointers.push_back(reinterpret_cast<char*>(data));
    copies.hashes.push_back(list.buffers[i].input >= 0 ? fast_hash(data, bytes) : 0);
  }
  return copies;
}

void check_after(const pass::LaunchList& list, const pass::Launch& launch, const Copies& copies) {
  const std::string kernel = fmt::format("kernel '{}' of pass '{}'", launch.kernel, list.pass);
  for (size_t i = 0; i < copies.memory.size(); ++i) {
    const FencedMemory& memory = copies.memory[i];
    if (const auto broken = memory.broken_canary()) {
      const std::string where = *broken < 0 ? fmt::format("{} bytes before its start", -*broken)
                                            : fmt::format("{} bytes past its end", *broken);
      throw KernelFault{"out-of-bounds",
                        fmt::format("{} wrote outside of {}: {}", kernel, buffer_name(list, i), where),
                        launch.at};
    }
    if (list.buffers[i].input >= 0 && fast_hash(memory.data(), memory.size_bytes()) != copies.hashes[i])
      throw KernelFault{"input-changed", fmt::format("{} changed {}", kernel, buffer_name(list, i)),
                        launch.at};
  }
}

Copies run_once(const FusedLibrary& library, size_t index, const std::vector<at::Tensor>& tensors,
                unsigned char poison) {
  const pass::LaunchList& list = library.list(index).launches;
  Copies copies = make_copies(list, tensors, poison);
  for (size_t i = 0; i < list.launches.size(); ++i) {
    const pass::Launch& launch = list.launches[i];
    set_running_kernel(fmt::format("kernel '{}' of pass '{}'", launch.kernel, list.pass));
    ReadyLaunch(launch, library.list(index).kernels[i].run).run(library.pool(), copies.pointers.data());
    set_running_kernel({});
    check_after(list, launch, copies);
  }
  return copies;
}

bool all_equal(const char* bytes, size_t count, unsigned char value) {
  return std::all_of(bytes, bytes + count,
                     [&](char byte) { return static_cast<unsigned char>(byte) == value; });
}

/// Elements of output `number` that hold the first poison after the first run and the second after the
/// second.
void check_written(const pass::LaunchList& list, size_t number, const Copies& first, const Copies& second) {
  const pass::View& view = list.outputs[number];
  const pass::Buffer& buffer = list.buffers[view.buffer];
  if (buffer.input >= 0 || buffer.fill) return;
  const auto element = static_cast<size_t>(ir::size_bytes(view.type.dtype));
  std::vector<int64_t> index(view.type.shape.size(), 0), first_index;
  int64_t unwritten = 0;
  for (int64_t n = view.type.numel(); n > 0; --n) {
    int64_t at = view.offset;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * view.type.strides[d];
    const size_t byte = static_cast<size_t>(at) * element;
    if (all_equal(first.pointers[view.buffer] + byte, element, kPoisons[0]) &&
        all_equal(second.pointers[view.buffer] + byte, element, kPoisons[1])) {
      if (unwritten++ == 0) first_index = index;
    }
    for (size_t d = index.size(); d-- > 0 && ++index[d] == view.type.shape[d];) index[d] = 0;
  }
  if (unwritten == 0) return;
  throw KernelFault{
      "unwritten-output",
      fmt::format("pass '{}' leaves {} of {} elements of output {} ({}) unwritten, the first at [{}]",
                  list.pass, unwritten, view.type.numel(), number, ir::to_string(view.type),
                  fmt::join(first_index, ", ")),
      list.launches.empty() ? SourceLoc{} : list.launches.back().at};
}

}  // namespace

void KernelCheck::run(const FusedLibrary& library, size_t index,
                      const std::vector<at::Tensor>& tensors) const {
  const pass::LaunchList& list = library.list(index).launches;
  const Copies first = run_once(library, index, tensors, kPoisons[0]);
  const Copies second = run_once(library, index, tensors, kPoisons[1]);
  for (size_t i = 0; i < list.outputs.size(); ++i) check_written(list, i, first, second);
  for (size_t i = 0; i < list.buffers.size(); ++i) {
    if (list.buffers[i].input < 0)
      std::memcpy(tensors[i].data_ptr(), second.memory[i].data(), second.memory[i].size_bytes());
  }
  clear_fences();
}

}  // namespace passnet::runtime
