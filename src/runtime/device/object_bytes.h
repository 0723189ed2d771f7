// A compiled kernel as it was built. Free of torch.
#pragma once

#include <string>

#include "base/result.h"
#include "pass/plan/kernel_file.h"

namespace passnet::runtime {

/// The bytes of file.object. kernel: what messages call it. Errors: BadPass: it cannot be read, or is not the object that
/// was built (file.sha256).
Result<std::string> read_object(const pass::KernelFile& file, const std::string& kernel);

}  // namespace passnet::runtime
