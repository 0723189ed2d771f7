// What a cell's end says of the kernel that ran in it. Internal to runtime/ (includes torch).
#pragma once

#include "runtime/cpu/cell/cell.h"
#include "runtime/cpu/cell/slots.h"
#include "runtime/device/device.h"
#include "runtime/device/kernel_fault.h"
#include "runtime/tensor/arena.h"

namespace passnet::runtime {

/// A launch of the program: which of which list.
struct InLine {
  size_t list = 0, index = 0;
};

/// Where a fault happened.
struct FaultPlace {
  const std::vector<FusedList>& lists;
  const std::vector<InLine>& line;  // the program
  const Cell& cell;                 // whose program it still is
  const SlotMemory& slots;
  const Arena& arena;
};

/// What the cell says of its end is used for words alone; that it ended is what counts.
KernelFault describe_fault(const CellFault& fault, const FaultPlace& place);

/// A byte beside a buffer was overwritten; offset_bytes as SlotMemory::broken_canary().
KernelFault describe_overrun(const std::vector<FusedList>& lists, const SlotMemory::Slot& slot, int64_t offset_bytes);

}  // namespace passnet::runtime
