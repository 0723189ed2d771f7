// The tables of numbers that functions of CUDA's math library read (sinf, cosf, tan, j0, …): a kernel that calls one has
// the table among its variables.
#pragma once

#include <string_view>

namespace passnet::pass {

/// Whether a variable with this name and these bytes is one of them.
bool is_cuda_table(std::string_view name, std::string_view bytes);

}  // namespace passnet::pass
