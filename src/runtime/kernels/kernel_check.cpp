#include "runtime/kernels/kernel_check.h"

#include <cstring>

#include "base/hash.h"
#include "runtime/kernels/checked_run.h"
#include "runtime/kernels/fault_report.h"
#include "runtime/kernels/fenced_memory.h"
#include "runtime/kernels/launch_ready.h"
#include "runtime/tensor/dtype.h"

namespace passnet::runtime {

namespace {

/// All buffers of one run in fenced memory.
struct Copies {
  std::vector<FencedMemory> memory;
  std::vector<char*> pointers;
  std::vector<uint64_t> hashes;  // of inputs
};

Copies make_copies(const pass::LaunchList& list, const std::vector<at::Tensor>& tensors, unsigned char poison) {
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
  for (size_t i = 0; i < copies.memory.size(); ++i) {
    const FencedMemory& memory = copies.memory[i];
    if (const auto broken = memory.broken_canary()) throw wrote_outside(list, launch, i, *broken);
    if (list.buffers[i].input >= 0 && fast_hash(memory.data(), memory.size_bytes()) != copies.hashes[i])
      throw changed_input(list, launch, i);
  }
}

Copies run_once(const FusedLibrary& library, size_t index, const std::vector<at::Tensor>& tensors,
                unsigned char poison) {
  const pass::LaunchList& list = library.list(index).launches;
  Copies copies = make_copies(list, tensors, poison);
  for (size_t i = 0; i < list.launches.size(); ++i) {
    const pass::Launch& launch = list.launches[i];
    set_running(&library.list(index).running[i]);
    ReadyLaunch(launch, library.list(index).kernels[i].run).run(library.pool(), copies.pointers.data());
    set_running(nullptr);
    check_after(list, launch, copies);
  }
  return copies;
}

std::vector<const char*> pointers_of(const Copies& copies) { return {copies.pointers.begin(), copies.pointers.end()}; }

}  // namespace

void KernelCheck::run(const FusedLibrary& library, size_t index, const std::vector<at::Tensor>& tensors) const {
  const pass::LaunchList& list = library.list(index).launches;
  const Copies first = run_once(library, index, tensors, kPoisons[0]);
  const Copies second = run_once(library, index, tensors, kPoisons[1]);
  for (size_t i = 0; i < list.outputs.size(); ++i) require_written(list, i, pointers_of(first), pointers_of(second));
  for (size_t i = 0; i < list.buffers.size(); ++i) {
    if (list.buffers[i].input < 0)
      std::memcpy(tensors[i].data_ptr(), second.memory[i].data(), second.memory[i].size_bytes());
  }
  clear_fences();
}

}  // namespace passnet::runtime
