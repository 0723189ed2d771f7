#include "runtime/gpu/check.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/nonzero.h>
#include <fmt/format.h>

#include "runtime/gpu/gpu.h"
#include "runtime/gpu/kernel.h"
#include "runtime/kernels/checked_run.h"
#include "runtime/tensor/dtype.h"

namespace passnet::runtime::gpu {

namespace {

constexpr int64_t kZoneBytes = int64_t{1} << 20;
constexpr unsigned char kCanary = 0xC7;

at::Tensor part(const at::Tensor& bytes, int64_t start, int64_t length) { return bytes.narrow(0, start, length); }

/// The memory that a tensor's elements span, as bytes.
at::Tensor bytes_of(const at::Tensor& tensor, int64_t size) {
  return at::from_blob(tensor.data_ptr(), {size}, tensor.options().dtype(at::kByte));
}

struct Copies {
  std::vector<at::Tensor> memory, data;  // zone + data + zone; data alone
  std::vector<char*> pointers;
};

Copies make_copies(const pass::LaunchList& list, const std::vector<at::Tensor>& tensors, unsigned char poison) {
  Copies copies;
  for (size_t i = 0; i < list.buffers.size(); ++i) {
    const int64_t size = extent_bytes(list.buffers[i].type);
    const at::Tensor memory = at::empty({2 * kZoneBytes + size}, tensors[i].options().dtype(at::kByte)).fill_(kCanary);
    const at::Tensor data = part(memory, kZoneBytes, size);
    if (list.buffers[i].input >= 0 || list.buffers[i].fill) {
      data.copy_(bytes_of(tensors[i], size));
    } else {
      data.fill_(poison);
    }
    copies.memory.push_back(memory);
    copies.data.push_back(data);
    copies.pointers.push_back(static_cast<char*>(data.data_ptr()));
  }
  return copies;
}

/// How many bytes before its start (negative) or past its end (0 is the first) a buffer's canaries are broken.
std::optional<int64_t> broken_canary(const at::Tensor& memory) {
  const int64_t size = memory.numel() - 2 * kZoneBytes;
  const at::Tensor after = part(memory, kZoneBytes + size, kZoneBytes).ne(kCanary).nonzero();
  if (after.numel() > 0) return after.min().item<int64_t>();
  const at::Tensor before = part(memory, 0, kZoneBytes).ne(kCanary).nonzero();
  if (before.numel() > 0) return before.max().item<int64_t>() - kZoneBytes;
  return std::nullopt;
}

void check_after(const pass::LaunchList& list, const pass::Launch& launch, const Copies& copies,
                 const std::vector<at::Tensor>& tensors) {
  for (size_t i = 0; i < list.buffers.size(); ++i) {
    if (const auto broken = broken_canary(copies.memory[i])) throw wrote_outside(list, launch, i, *broken);
    if (list.buffers[i].input >= 0 && !at::equal(copies.data[i], bytes_of(tensors[i], copies.data[i].numel())))
      throw changed_input(list, launch, i);
  }
}

Copies run_once(const FusedLibrary& library, size_t index, const std::vector<at::Tensor>& tensors,
                unsigned char poison) {
  const pass::LaunchList& list = library.list(index).launches;
  Copies copies = make_copies(list, tensors, poison);
  for (size_t i = 0; i < list.launches.size(); ++i) {
    const pass::Launch& launch = list.launches[i];
    // A kernel that does not end is named when passnet loses its patience.
    set_running(&library.list(index).running[i]);
    try {
      ReadyLaunch(launch, library.list(index).kernels[i].device).run(copies.pointers.data());
      synchronize();
      set_running(nullptr);
    } catch (KernelFault& fault) {
      set_running(nullptr);
      fault.message = fmt::format("{}: {}", describe_kernel(list, launch), fault.message);
      fault.at = launch.at;
      fault.launch = describe_launch(list, launch);
      throw;
    }
    check_after(list, launch, copies, tensors);
  }
  return copies;
}

std::vector<at::Tensor> on_host(const Copies& copies) {
  std::vector<at::Tensor> host;
  for (const at::Tensor& data : copies.data) host.push_back(data.cpu());
  return host;
}

std::vector<const char*> pointers_of(const std::vector<at::Tensor>& host) {
  std::vector<const char*> pointers;
  for (const at::Tensor& tensor : host) pointers.push_back(static_cast<const char*>(tensor.const_data_ptr()));
  return pointers;
}

}  // namespace

void check_launches(const FusedLibrary& library, size_t index, const std::vector<at::Tensor>& tensors) {
  const pass::LaunchList& list = library.list(index).launches;
  const Copies first = run_once(library, index, tensors, kPoisons[0]);
  const Copies second = run_once(library, index, tensors, kPoisons[1]);
  const std::vector<at::Tensor> first_host = on_host(first), second_host = on_host(second);
  for (size_t i = 0; i < list.outputs.size(); ++i)
    require_written(list, i, pointers_of(first_host), pointers_of(second_host));
  for (size_t i = 0; i < list.buffers.size(); ++i) {
    if (list.buffers[i].input < 0) bytes_of(tensors[i], second.data[i].numel()).copy_(second.data[i]);
  }
}

}  // namespace passnet::runtime::gpu
