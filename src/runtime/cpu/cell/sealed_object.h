// A kernel's object as the cell gets it: a copy that nobody can change any more. Free of torch.
#pragma once

#include <string>

#include "base/file/file.h"
#include "base/result.h"
#include "pass/plan/kernel_file.h"

namespace passnet::runtime {

/// A memfd with the bytes of file.object. kernel: what messages call it. Errors: Io; BadPass: it is missing, or not the
/// object that was built (file.sha256).
Result<UniqueFd> seal_object(const pass::KernelFile& file, const std::string& kernel);

}  // namespace passnet::runtime
