// Any text as an input_tensor_constraints.py: an error that has a place, or constraints that read back equal
// from what is printed of them.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "graphdir/inputs/constraints.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace passnet;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto constraints = graphdir::parse_constraints("constraints.py", text);
  if (!constraints) {
    if (!constraints.error().at || constraints.error().message.empty()) std::abort();
    return 0;
  }
  const std::string printed = graphdir::print_constraints(*constraints);
  const auto again = graphdir::parse_constraints("printed.py", printed);
  if (!again || !equal(*constraints, *again) || graphdir::print_constraints(*again) != printed) std::abort();
  if (signature(*constraints) != signature(*again)) std::abort();
  const auto verified = verify_constraints(*constraints, ir::Graph(), {});
  if (verified && !constraints->inputs.empty()) std::abort();  // the empty graph has no arguments
  return 0;
}
