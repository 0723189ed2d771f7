// Kernels of passes in a cell: the CPU's KernelHost. Internal to runtime/ (includes torch).
#pragma once

#include <memory>
#include <vector>

#include "runtime/cpu/cell/starter.h"
#include "runtime/device/device.h"
#include "runtime/tensor/arena.h"

namespace passnet::runtime {

/// What cells of this process are started with.
struct CellResources {
  CellStarter* starter = nullptr;  // null: kernels of passes cannot run here
  Arena* arena = nullptr;          // where tensors lie; the cell can read it
  int threads = 1;
  std::vector<int> processors;  // one per thread, or empty
};

/// Starts a cell with the kernels of `lists`, which must outlive what is returned.
/// Errors: Resource; Io; BadPass: a kernel's object cannot be loaded, or is not the one that was built.
Result<std::unique_ptr<KernelHost>> make_cell_host(const CellResources& resources, const std::vector<FusedList>& lists);

}  // namespace passnet::runtime
