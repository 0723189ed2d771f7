#include "runtime/session/inputs/input_set.h"

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/text/strings.h"
#include "runtime/tensor/share.h"

namespace passnet::runtime {

namespace {

/// Sets up to this size are copied at once; larger ones are mapped a second time.
constexpr int64_t kCopiedAtOnce = int64_t{256} << 20;

/// The tensor at the same place of another mapping of the same memory.
at::Tensor moved_view(const at::Tensor& tensor, const wire::Mapping& from, const wire::Mapping& to) {
  const auto* data = static_cast<const std::byte*>(tensor.const_data_ptr());
  // An empty tensor may have no data at all.
  std::byte* place = tensor.numel() == 0 ? to.data() : to.data() + (data - from.data());
  return at::from_blob(place, tensor.sizes(), tensor.options());
}

Error no_tensor_for(const std::string& name, const std::vector<wire::Entry>& entries) {
  std::vector<std::string> some;
  for (size_t i = 0; i < std::min<size_t>(entries.size(), 8); ++i) some.push_back(entries[i].name);
  if (entries.size() > some.size()) some.emplace_back("…");
  return bad_input(fmt::format("no tensor for argument '{}' of forward", name)).with_hint("given: " + join(some, ", "));
}

}  // namespace

std::shared_ptr<const InputSet> make_input_set(std::vector<wire::Entry> entries, wire::Mapping memory, UniqueFd fd,
                                               uint64_t call_seed) {
  auto set = std::make_shared<InputSet>();
  for (const at::Tensor& tensor : view_shared(entries, memory)) set->tensors.push_back(tensor.to(graph_device()));
  set->entries = std::move(entries);
  set->memory = std::move(memory);
  set->fd = std::move(fd);
  set->call_seed = call_seed;
  return set;
}

Result<std::shared_ptr<const InputSet>> adopt_input_set(SharedTensors shared, uint64_t call_seed) {
  PASSNET_TRY(wire::Mapping mapping,
              wire::Mapping::map(shared.memory.get(), wire::extent_bytes(shared.entries), false));
  return make_input_set(std::move(shared.entries), std::move(mapping), std::move(shared.memory), call_seed);
}

Result<CallInputs> inputs_for(const InputSet& set, const std::vector<std::string>& names) {
  CallInputs inputs;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(set.entries, name, &wire::Entry::name);
    if (found == set.entries.end()) return no_tensor_for(name, set.entries);
    inputs.pristine.push_back(set.tensors[static_cast<size_t>(found - set.entries.begin())]);
  }
  const bool in_pages = graph_device().is_cpu() && set.memory.size_bytes() > kCopiedAtOnce;
  if (in_pages) {
    PASSNET_TRY(inputs.working_memory, wire::Mapping::map_copy_on_write(set.fd.get(), set.memory.size_bytes()));
  }
  for (const at::Tensor& tensor : inputs.pristine)
    inputs.working.push_back(in_pages ? moved_view(tensor, set.memory, inputs.working_memory) : tensor.clone());
  return inputs;
}

}  // namespace passnet::runtime
