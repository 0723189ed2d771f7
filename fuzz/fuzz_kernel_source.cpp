// Any text as a kernel's source: reading it must end with kernels or an error that has a place, and a unit made of what
// was accepted holds the text as given.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "pass/kernel/kernel_source.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace passnet::pass;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto source = parse_kernel_source("k.cpp", text);
  if (!source) {
    if (!source.error().at || source.error().message.empty()) std::abort();
    return 0;
  }
  if (source->text.size() != text.size()) std::abort();  // blanked, never moved
  for (const KernelDefinition& kernel : source->kernels) {
    if (kernel.name.empty() || kernel.at.line == 0) std::abort();
  }
  return 0;
}
