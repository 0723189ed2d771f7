// Bundles of `passnet bundle` in a C++ program: load one, call it on tensors. Needs C++17 and libpassnet.so; no header of
// PyTorch. Kernels of a bundle run in this process: load only bundles that you trust (docs/bundles.md).
//
//   passnet::Bundle model("model.passnet");
//   std::vector<passnet::Tensor> outputs = model({passnet::Tensor::of(data, {1, 197, 192})});
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

extern "C" {
struct passnet_bundle;
/// Contiguous elements in row-major order. dtype: "float32", "bfloat16", "int64", "bool", … owner: of outputs.
struct passnet_tensor {
  const char* dtype;
  const int64_t* shape;
  size_t rank;
  void* data;
  void* owner;
};
/// Null: `error` says why, until the next call of this thread.
passnet_bundle* passnet_bundle_load(const char* path, const char** error);
void passnet_bundle_free(passnet_bundle* bundle);
/// Null: there is no such input. Weights of the bundle are no inputs.
const char* passnet_bundle_input(const passnet_bundle* bundle, size_t index);
/// Places at which a pass is used; `why` says why there is none.
size_t passnet_bundle_sites(const passnet_bundle* bundle, const char** why);
/// Gives the tensors of all outputs to `take` in order, which keeps each owner for passnet_tensor_free(). Null: done; else the
/// error, until the next call of this thread. Threads may share a bundle; their calls follow one another.
const char* passnet_bundle_call(passnet_bundle* bundle, const passnet_tensor* inputs, size_t count,
                                void (*take)(void* into, const passnet_tensor* output), void* into);
void passnet_tensor_free(void* owner);
}

namespace passnet {

/// Contiguous elements in row-major order, in memory of the caller or of an output.
struct Tensor {
  std::string dtype;
  std::vector<int64_t> shape;
  void* data = nullptr;
  std::shared_ptr<void> owner = nullptr;  // of an output; null: the caller's memory, which outlives the call

  /// A view of the caller's elements: float, double, int64_t, int32_t, int16_t, int8_t, uint8_t or bool.
  template <class T>
  static Tensor of(T* data, std::vector<int64_t> shape) {
    using E = std::remove_const_t<T>;
    const char* const name = std::is_same_v<E, float>     ? "float32"
                             : std::is_same_v<E, double>  ? "float64"
                             : std::is_same_v<E, int64_t> ? "int64"
                             : std::is_same_v<E, int32_t> ? "int32"
                             : std::is_same_v<E, int16_t> ? "int16"
                             : std::is_same_v<E, int8_t>  ? "int8"
                             : std::is_same_v<E, uint8_t> ? "uint8"
                                                          : "bool";
    static_assert(std::is_arithmetic_v<E>, "give half and bfloat16 by their names: Tensor{\"bfloat16\", shape, data}");
    return {name, std::move(shape), const_cast<E*>(data)};
  }
  template <class T>
  T* elements() const {
    return static_cast<T*>(data);
  }
  size_t count() const {
    size_t product = 1;
    for (const int64_t size : shape) product *= static_cast<size_t>(size);
    return product;
  }
};

/// A loaded bundle. Errors are thrown as std::runtime_error with the text that the command line prints.
class Bundle {
 public:
  explicit Bundle(const std::string& path) {
    const char* error = nullptr;
    bundle_.reset(passnet_bundle_load(path.c_str(), &error));
    if (!bundle_) throw std::runtime_error(error);
  }
  std::vector<std::string> inputs() const {
    std::vector<std::string> names;
    while (const char* const name = passnet_bundle_input(bundle_.get(), names.size())) names.emplace_back(name);
    return names;
  }
  /// Places at which a pass is used. 0: the graph runs without passes.
  size_t sites() const {
    const char* why = nullptr;
    return passnet_bundle_sites(bundle_.get(), &why);
  }
  /// Why no pass is used; empty where some are.
  std::string why_not() const {
    const char* why = nullptr;
    passnet_bundle_sites(bundle_.get(), &why);
    return why;
  }
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs) const {
    std::vector<passnet_tensor> given;
    for (const Tensor& one : inputs)
      given.push_back({one.dtype.c_str(), one.shape.data(), one.shape.size(), one.data, nullptr});
    std::vector<Tensor> outputs;
    const auto take = [](void* into, const passnet_tensor* output) {
      static_cast<std::vector<Tensor>*>(into)->push_back({output->dtype,
                                                          {output->shape, output->shape + output->rank},
                                                          output->data,
                                                          {output->owner, passnet_tensor_free}});
    };
    if (const char* const error = passnet_bundle_call(bundle_.get(), given.data(), given.size(), take, &outputs))
      throw std::runtime_error(error);
    return outputs;
  }

 private:
  struct Free {
    void operator()(passnet_bundle* bundle) const { passnet_bundle_free(bundle); }
  };
  std::unique_ptr<passnet_bundle, Free> bundle_;
};

}  // namespace passnet
