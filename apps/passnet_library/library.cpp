// The C functions of include/passnet_bundle.h.
#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/dtype.h"
#include "passnet_bundle.h"
#include "runtime/tensor/dtype.h"
#include "runtime/use/used_bundle.h"

#define PASSNET_PUBLIC __attribute__((visibility("default")))

using passnet::runtime::UsedBundle;

struct passnet_bundle {
  std::unique_ptr<UsedBundle> used;
};

namespace {

/// Keeps a text for the caller, until the next error of this thread.
const char* keep(std::string text) {
  static thread_local std::string kept;
  kept = std::move(text);
  return kept.c_str();
}

/// Runs `work`; what it throws is an error too. Returns null, or the text of the error.
template <class Work>
const char* guarded(Work&& work) {
  try {
    const passnet::Result<void> done = work();
    return done ? nullptr : keep(to_string(done.error()));
  } catch (const std::exception& problem) {
    return keep(problem.what());
  }
}

/// Errors: BadInput: an element type that graphs do not have.
passnet::Result<at::Tensor> tensor_of(const passnet_tensor& given, const std::string& name) {
  const auto dtype = passnet::ir::parse_dtype(given.dtype);
  if (!dtype)
    return passnet::bad_input(
        fmt::format("input '{}': found the dtype '{}', expected one such as 'float32'", name, given.dtype));
  return at::from_blob(given.data, {given.shape, given.rank}, at::TensorOptions(passnet::runtime::scalar_type(*dtype)));
}

passnet::Result<void> call(UsedBundle& bundle, const passnet_tensor* inputs, size_t count,
                           void (*take)(void*, const passnet_tensor*), void* into) {
  const std::vector<std::string>& names = bundle.input_names();
  if (count != names.size())
    return passnet::bad_input(fmt::format("found {} inputs, expected {} tensors", count, names.size()));
  std::vector<at::Tensor> tensors;
  for (size_t i = 0; i < count; ++i) {
    PASSNET_TRY(at::Tensor tensor, tensor_of(inputs[i], names[i]));
    tensors.push_back(std::move(tensor));
  }
  PASSNET_TRY(const std::vector<c10::IValue> outputs, bundle.call(std::move(tensors)));
  for (const c10::IValue& value : outputs) {
    if (!value.isTensor())
      return passnet::unsupported(fmt::format("an output is of type {}, expected tensors", value.tagKind()));
  }
  for (const c10::IValue& value : outputs) {
    auto owner = std::make_unique<at::Tensor>(value.toTensor().contiguous());
    const std::string dtype(passnet::ir::name(passnet::runtime::dtype_of(owner->scalar_type())));
    const passnet_tensor output{dtype.c_str(), owner->sizes().data(), owner->sizes().size(), owner->data_ptr(),
                                owner.get()};
    take(into, &output);
    owner.release();
  }
  return {};
}

}  // namespace

extern "C" {

PASSNET_PUBLIC passnet_bundle* passnet_bundle_load(const char* path, const char** error) {
  std::unique_ptr<passnet_bundle> made;
  *error = guarded([&]() -> passnet::Result<void> {
    PASSNET_TRY(std::unique_ptr<UsedBundle> used, UsedBundle::load(path));
    made.reset(new passnet_bundle{std::move(used)});
    return {};
  });
  return made.release();
}

PASSNET_PUBLIC void passnet_bundle_free(passnet_bundle* bundle) { delete bundle; }

PASSNET_PUBLIC const char* passnet_bundle_input(const passnet_bundle* bundle, size_t index) {
  const std::vector<std::string>& names = bundle->used->input_names();
  return index < names.size() ? names[index].c_str() : nullptr;
}

PASSNET_PUBLIC size_t passnet_bundle_sites(const passnet_bundle* bundle, const char** why) {
  *why = bundle->used->why_not().c_str();
  return bundle->used->sites();
}

PASSNET_PUBLIC const char* passnet_bundle_call(passnet_bundle* bundle, const passnet_tensor* inputs, size_t count,
                                               void (*take)(void* into, const passnet_tensor* output), void* into) {
  return guarded([&] { return call(*bundle->used, inputs, count, take, into); });
}

PASSNET_PUBLIC void passnet_tensor_free(void* owner) { delete static_cast<at::Tensor*>(owner); }
}
