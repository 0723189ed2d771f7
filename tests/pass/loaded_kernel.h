// Loads a built kernel into the test itself and runs it, as the candidate does.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cell/matrix_unit.h"
#include "pass/kernel/build.h"
#include "passnet/abi.h"

namespace passnet::pass {

class LoadedKernel {
 public:
  explicit LoadedKernel(const BuiltKernel& built) : object_(::dlopen(built.object.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_TRUE(object_) << ::dlerror();
    run_ = reinterpret_cast<passnet_run_fn>(object_ ? ::dlsym(object_, built.entry.c_str()) : nullptr);
    EXPECT_TRUE(run_);
  }
  LoadedKernel(const LoadedKernel&) = delete;
  ~LoadedKernel() {
    if (object_) ::dlclose(object_);
  }

  /// From now on kernels use the processor's matrix unit, where there is one, or do not.
  void use_matrix_unit(bool use) { matrix_unit_ = use && cell::take_matrix_unit(); }

  /// Runs all tasks in parts of `part`, as threads would share them.
  void operator()(const std::vector<passnet_arg>& args, const std::vector<int64_t>& grid,
                  int64_t part = 1 << 30) const {
    int64_t count = 1;
    for (int64_t size : grid) count *= size;
    for (int64_t first = 0; first < count; first += part) tasks(args, grid, first, std::min(count, first + part));
  }
  void tasks(const std::vector<passnet_arg>& args, const std::vector<int64_t>& grid, int64_t first,
             int64_t last) const {
    passnet_launch launch{args.data(), {1, 1, 1}, 1, matrix_unit_};
    std::copy(grid.begin(), grid.end(), launch.grid);
    run_(&launch, first, last);
  }

 private:
  void* object_;
  passnet_run_fn run_ = nullptr;
  bool matrix_unit_ = cell::take_matrix_unit();
};

inline passnet_arg argument(const void* pointer) { return {.pointer = const_cast<void*>(pointer)}; }
inline passnet_arg argument(int64_t value) { return {.integer = value}; }
inline passnet_arg argument(int value) { return {.integer = value}; }
inline passnet_arg argument(bool value) { return {.integer = value}; }
inline passnet_arg argument(double value) { return {.real = value}; }

template <class... T>
std::vector<passnet_arg> arguments(T... values) {
  return {argument(values)...};
}

}  // namespace passnet::pass
