// Packages: `passnet.package(n, inputs…)` calls a whole graph that AOTInductor compiled ahead of time, which returns n
// values. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "base/result.h"
#include "runtime/plan/builder.h"
#include "runtime/plan/package_file.h"

namespace passnet::runtime {

/// A package that is loaded into this process: its machine code, and its constants on the graph's device.
class Package {
 public:
  /// Unpacks the file to a directory of its own, which goes with the package, and opens its library.
  /// Errors: BadInput with the loader's words.
  static Result<std::unique_ptr<Package>> open(PackageFile file);
  ~Package();
  Package(const Package&) = delete;
  Package& operator=(const Package&) = delete;

  const PackageFile& file() const { return file_; }
  /// One call. Inputs that the graph changes in place are changed. Throws KernelFault "other-shapes" for inputs of other
  /// types than it was compiled for, which its code does not look at; and what PyTorch throws.
  std::vector<at::Tensor> call(const std::vector<at::Tensor>& inputs);

 private:
  struct Loader;
  Package(PackageFile file, std::unique_ptr<Loader> loader);

  PackageFile file_;
  std::unique_ptr<Loader> loader_;
};

/// Lowers `passnet.package(n, inputs…)` to a step; returns the Tuple of what it gives. package: null when the graph came
/// without one. Throws LoweringError.
Operand lower_package(Builder& builder, Package* package, const std::vector<Operand>& args);

}  // namespace passnet::runtime
