// Targets that PassNet does not run, each with the reason; docs/operators.md lists the same.
#pragma once

#include <string_view>

namespace passnet::ir {

/// Why `target` ("torch.cond", "Tensor.numpy") is refused; empty when it is simply not known.
std::string_view refusal_reason(std::string_view target);

}  // namespace passnet::ir
