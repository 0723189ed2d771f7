#include "runtime/cpu/cell/describe_fault.h"

#include <fmt/format.h>

#include <csignal>
#include <optional>

#include "runtime/device/checked_run.h"
#include "runtime/tensor/dtype.h"

namespace passnet::runtime {

namespace {

const char* signal_words(int signal) {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV (invalid memory access)";
    case SIGBUS: return "SIGBUS (access beyond a mapping)";
    case SIGFPE: return "SIGFPE (integer division by zero or overflow)";
    case SIGTRAP: return "SIGTRAP (trap instruction)";
    default: return "SIGILL (invalid instruction)";
  }
}

struct NearSlot {
  size_t slot = 0;
  int64_t distance = 0;  // bytes from its buffer: negative before, 0 inside, positive past it
};

/// The buffer that an address of the cell belongs to, or whose fence it is in.
std::optional<NearSlot> find_slot(uint64_t address, const FaultPlace& place) {
  constexpr int64_t kReach = int64_t{64} << 20;
  std::optional<NearSlot> nearest;
  const std::vector<cell::SlotRow>& rows = place.cell.slots();
  for (size_t i = 0; i < rows.size(); ++i) {
    const SlotMemory::Slot& slot = place.slots.slots()[i];
    const auto offset = static_cast<int64_t>(address - rows[i].base - slot.data);
    const auto used = static_cast<int64_t>(slot.used);
    const int64_t distance = offset < 0 ? offset : offset < used ? 0 : offset - used + 1;
    if (std::abs(distance) > kReach) continue;
    if (!nearest || std::abs(distance) < std::abs(nearest->distance)) nearest = NearSlot{i, distance};
  }
  return nearest;
}

/// Which input of the launch holds an address of the arena; nullopt: none.
std::optional<size_t> find_input(uint64_t address, const pass::LaunchList& list, const pass::Launch& launch,
                                 const passnet_arg* args) {
  for (size_t i = 0; i < launch.args.size(); ++i) {
    const auto* view = std::get_if<pass::View>(&launch.args[i]);
    if (view == nullptr || !list.buffers[view->buffer].is_read_only()) continue;
    const auto begin = reinterpret_cast<uint64_t>(args[i].pointer);
    if (address >= begin && address < begin + static_cast<uint64_t>(extent_bytes(view->type))) return view->buffer;
  }
  return std::nullopt;
}

std::string distance_words(int64_t distance) {
  if (distance < 0) return fmt::format("{} bytes before its start", -distance);
  return distance == 1 ? "the first byte behind its end" : fmt::format("{} bytes past its end", distance - 1);
}

}  // namespace

KernelFault describe_fault(const CellFault& fault, const FaultPlace& place) {
  const size_t number = fault.launch < place.line.size() ? fault.launch : 0;
  const auto [list_index, index] = place.line[number];
  const pass::LaunchList& list = place.lists[list_index].launches;
  const pass::Launch& launch = list.launches[index];
  const std::string kernel = describe_kernel(list, launch);
  KernelFault told{"crash", "", launch.at, false, describe_launch(list, launch)};
  const cell::Launch& ran = cell::launches_of(place.cell.program())[number];
  const cell::KernelRow& code = place.cell.kernels()[ran.kernel];
  for (const uint64_t at : {fault.at, fault.called_by - 1}) {
    if (at >= code.begin && at < code.end) {
      told.code = KernelFault::Code{list_index, index, at - code.begin};
      break;
    }
  }
  if (fault.restless) {
    told.kind = "not-at-rest";
    told.message = fmt::format("{} said that it was done, and {} s later a thread of its process did not sleep", kernel,
                               kMostUntilRest.count());
    return told;
  }
  if (fault.signal == 0) {
    told.kind = fault.ended.from_outside ? "killed" : "crash";
    told.message = fault.ended.from_outside
                       ? fmt::format("the machine ended the process of {}: {}", kernel, fault.ended.how)
                       : fmt::format("{} ended its process: {}", kernel, fault.ended.how);
    return told;
  }
  if (fault.signal == SIGSYS) {
    told.message = fmt::format("{} made a system call (number {}), which kernels may not", kernel, fault.address);
    return told;
  }
  const bool memory = fault.signal == SIGSEGV || fault.signal == SIGBUS;
  if (memory) {
    const auto near = find_slot(fault.address, place);
    // A place that may be written faults when what was written there is executed.
    const bool executed = near && near->distance == 0 && place.slots.slots()[near->slot].writable;
    if (near && !executed) {
      const SlotMemory::Slot& slot = place.slots.slots()[near->slot];
      const std::string name = buffer_name(place.lists[slot.list].launches, slot.buffer);
      told.kind = near->distance == 0 ? "input-changed" : "out-of-bounds";
      told.message = near->distance == 0 ? fmt::format("{} changed {}", kernel, name)
                                         : fmt::format("{} touched memory outside of {}: {}", kernel, name,
                                                       distance_words(near->distance));
      return told;
    }
    const uint64_t arena = place.cell.arena_base();
    if (fault.address >= arena && fault.address < arena + place.arena.size_bytes()) {
      const auto input = find_input(fault.address, list, launch, cell::args_of(place.cell.program()) + ran.args);
      told.kind = input ? "input-changed" : "out-of-bounds";
      told.message = input ? fmt::format("{} changed {}", kernel, buffer_name(list, *input))
                           : fmt::format("{} wrote to a tensor that is not its own", kernel);
      return told;
    }
  }
  told.message = fmt::format("{} crashed: {}", kernel, signal_words(fault.signal));
  return told;
}

KernelFault describe_overrun(const std::vector<FusedList>& lists, const SlotMemory::Slot& slot, int64_t offset_bytes) {
  const pass::LaunchList& list = lists[slot.list].launches;
  return {"out-of-bounds",
          fmt::format("pass '{}' wrote outside of {}: {}", list.pass, buffer_name(list, slot.buffer),
                      distance_words(offset_bytes < 0 ? offset_bytes : offset_bytes + 1)),
          list.launches.empty() ? SourceLoc{} : list.launches.back().at};
}

}  // namespace passnet::runtime
