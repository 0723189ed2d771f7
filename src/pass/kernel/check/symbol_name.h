// The name of a function or variable of a compiled kernel, as its source has it.
#pragma once

#include <string>
#include <string_view>

namespace passnet::pass {

/// "_Z1fPf" -> "'f(float*)'"; what is no mangled name stays as it is. Cut to 120 characters.
std::string demangled(std::string_view symbol);

}  // namespace passnet::pass
