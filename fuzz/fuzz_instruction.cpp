// Any bytes as machine code: no read behind the end, no step of no length.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "pass/kernel/instruction.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace passnet::pass;
  const std::string_view code(reinterpret_cast<const char*>(data), size);
  for (size_t at = 0; at < size;) {
    const Instruction found = decode_x86(code.substr(at));
    if (found.length > 15 || found.length > size - at) std::abort();
    if (found.length == 0 || found.refused) break;
    at += found.length;
  }
  if (decode_aarch64(code).length > size) std::abort();
  return 0;
}
