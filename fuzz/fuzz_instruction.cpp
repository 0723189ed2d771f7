// Any bytes as machine code, read from each byte on by Zydis with our allow-list and by our tables: no read behind the
// end; what both allow has one length and one target; Zydis allows nothing that the tables do not.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "instruction_tables.h"
#include "pass/kernel/check/instruction.h"

namespace {

using passnet::pass::Instruction;

bool is_allowed(const Instruction& found) { return found.length != 0 && found.refused == nullptr; }

void compare(std::string_view code) {
  const Instruction found = passnet::pass::decode_instruction(code);
  if (found.length > 15 || found.length > code.size()) std::abort();
  if (!is_allowed(found)) return;
  const Instruction expected = passnet::fuzz::decode_by_tables(code);
  if (!is_allowed(expected)) std::abort();
  if (found.length != expected.length || found.flow != expected.flow) std::abort();
  if (found.target != expected.target) std::abort();
  if (found.slot && found.slot != expected.slot) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view code(reinterpret_cast<const char*>(data), size);
  for (size_t at = 0; at < size; ++at) compare(code.substr(at));
  return 0;
}
