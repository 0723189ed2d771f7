#include "pass/kernel/check/symbol_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "base/text/strings.h"

namespace passnet::pass {

std::string demangled(std::string_view symbol) {
  const std::string name(symbol);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return quoted(std::string_view(status == 0 ? text.get() : name.c_str()), 120);
}

}  // namespace passnet::pass
