#include "runtime/kernels/checked_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <variant>

namespace passnet::runtime {

std::string describe_kernel(const pass::LaunchList& list, const pass::Launch& launch) {
  return fmt::format("kernel '{}' of pass '{}'", launch.kernel, list.pass);
}

namespace {

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
};

}  // namespace

std::string describe_launch(const pass::LaunchList& list, const pass::Launch& launch) {
  std::vector<std::string> arguments;
  for (const pass::LaunchArg& arg : launch.args) arguments.push_back(std::visit(ArgumentText{list}, arg));
  const std::string place = launch.at.line == 0 ? "" : fmt::format(" at {}:{}", launch.at.file, launch.at.line);
  return fmt::format("launch {} of {}{}, grid ({}): {}", &launch - list.launches.data() + 1, list.launches.size(),
                     place, fmt::join(launch.grid, ", "), fmt::join(arguments, ", "));
}

std::string buffer_name(const pass::LaunchList& list, size_t index) {
  const pass::Buffer& buffer = list.buffers[index];
  if (buffer.input >= 0) return fmt::format("input {} ({})", buffer.input, ir::to_string(buffer.type));
  for (size_t i = 0; i < list.outputs.size(); ++i) {
    if (list.outputs[i].buffer == index) return fmt::format("output {} ({})", i, ir::to_string(buffer.type));
  }
  return fmt::format("temporary {} ({})", index, ir::to_string(buffer.type));
}

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

namespace {

bool all_equal(const char* bytes, size_t count, unsigned char value) {
  return std::all_of(bytes, bytes + count, [&](char byte) { return static_cast<unsigned char>(byte) == value; });
}

}  // namespace

void require_written(const pass::LaunchList& list, size_t number, const std::vector<const char*>& first,
                     const std::vector<const char*>& second) {
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
    if (all_equal(first[view.buffer] + byte, element, kPoisons[0]) &&
        all_equal(second[view.buffer] + byte, element, kPoisons[1])) {
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

}  // namespace passnet::runtime
