// DWARF 4, section 6.2: a program of one-byte opcodes that writes rows (address, file, line).
#include "pass/kernel/line_table.h"

#include <algorithm>
#include <vector>

#include "pass/kernel/check/elf_object.h"
#include "pass/kernel/kernel_source.h"

namespace passnet::pass {

namespace {

/// Reads from the front; past the end everything is 0 and `failed`.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty() || failed_; }
  bool failed() const { return failed_; }

  std::string_view take(uint64_t size) {
    if (size > bytes_.size()) {
      failed_ = true;
      return bytes_ = {};
    }
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  uint64_t number(size_t size) {
    uint64_t value = 0, shift = 0;
    for (const char byte : take(size)) {
      value |= uint64_t{static_cast<unsigned char>(byte)} << shift;
      shift += 8;
    }
    return value;
  }
  uint64_t uleb() {
    uint64_t value = 0;
    for (uint64_t shift = 0; shift < 64; shift += 7) {
      const uint64_t byte = number(1);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    failed_ = true;
    return 0;
  }
  int64_t sleb() {
    uint64_t value = 0;
    for (uint64_t shift = 0; shift < 64;) {
      const uint64_t byte = number(1);
      value |= (byte & 0x7f) << shift;
      shift += 7;
      if (byte >= 0x80) continue;
      if ((byte & 0x40) && shift < 64) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
    failed_ = true;
    return 0;
  }
  std::string_view text() {
    const size_t end = bytes_.find('\0');
    const std::string_view taken = take(end == std::string_view::npos ? bytes_.size() + 1 : end);
    take(1);
    return taken;
  }

 private:
  std::string_view bytes_;
  bool failed_ = false;
};

struct Header {
  uint8_t least_instruction = 1, line_range = 1, opcode_base = 13;
  int8_t line_base = 0;
  std::vector<uint8_t> operands;  // of the standard opcodes, from 1
  uint64_t kernel_file = 0;       // its number; 0: not in the table
};

Header read_header(Reader& reader) {
  Header header;
  header.least_instruction = static_cast<uint8_t>(reader.number(1));
  reader.number(2);  // operations per instruction and the default of is_stmt
  header.line_base = static_cast<int8_t>(reader.number(1));
  header.line_range = std::max<uint8_t>(static_cast<uint8_t>(reader.number(1)), 1);
  header.opcode_base = static_cast<uint8_t>(reader.number(1));
  header.operands.push_back(0);
  for (int opcode = 1; opcode < header.opcode_base; ++opcode)
    header.operands.push_back(static_cast<uint8_t>(reader.number(1)));
  while (!reader.text().empty()) {  // directories
  }
  for (uint64_t file = 1; !reader.failed(); ++file) {
    const std::string_view name = reader.text();
    if (name.empty()) break;
    for (int field = 0; field < 3; ++field) reader.uleb();  // directory, time, size
    if (name == kKernelFile) header.kernel_file = file;
  }
  return header;
}

/// Follows the rows of one unit up to the address that is looked for.
class Search {
 public:
  Search(const Header& header, uint64_t address) : header_(header), wanted_(address) {}

  std::optional<KernelLine> run(Reader program) {
    while (!program.empty() && !found_) step(program);
    return found_;
  }

 private:
  void step(Reader& program) {
    const auto opcode = static_cast<uint8_t>(program.number(1));
    if (opcode >= header_.opcode_base) return special(opcode);
    switch (opcode) {
      case 0: return extended(program);
      case 1:  // copy
        return row();
      case 2:  // advance_pc
        address_ += program.uleb() * header_.least_instruction;
        return;
      case 3:  // advance_line
        line_ += static_cast<uint64_t>(program.sleb());
        return;
      case 4:  // set_file
        file_ = program.uleb();
        return;
      case 8:  // const_add_pc
        advance(255);
        return;
      case 9:  // fixed_advance_pc
        address_ += program.number(2);
        return;
      default:
        for (int i = 0; i < header_.operands[opcode]; ++i) program.uleb();
    }
  }
  void advance(uint8_t opcode) {
    address_ += static_cast<uint64_t>((opcode - header_.opcode_base) / header_.line_range) * header_.least_instruction;
  }
  void special(uint8_t opcode) {
    advance(opcode);
    line_ += static_cast<uint64_t>(int64_t{header_.line_base} + (opcode - header_.opcode_base) % header_.line_range);
    row();
  }
  void extended(Reader& program) {
    Reader body(program.take(program.uleb()));
    switch (body.number(1)) {
      case 1:  // end_sequence
        row();
        address_ = 0;
        file_ = line_ = 1;
        covers_ = false;
        before_ = {};
        return;
      case 2:  // set_address
        address_ = body.number(8);
        return;
      default: return;
    }
  }
  /// A row ends the stretch of the row before it, and begins its own.
  void row() {
    if (covers_ && address_ > wanted_ && before_.line != 0) found_ = before_;
    covers_ = address_ <= wanted_;
    const bool in_kernel = file_ == header_.kernel_file && line_ != 0;
    if (in_kernel) before_.line = static_cast<uint32_t>(line_);
    before_.exact = in_kernel;
  }

  const Header& header_;
  const uint64_t wanted_;
  uint64_t address_ = 0, file_ = 1, line_ = 1;
  bool covers_ = false;  // the row before this one begins at or before the address
  KernelLine before_;    // of the rows so far in this sequence
  std::optional<KernelLine> found_;
};

}  // namespace

std::optional<KernelLine> find_kernel_line(std::string_view bytes, uint64_t address) {
  ElfObject object(bytes, "shared object", EM_X86_64, ET_DYN);
  if (!object.open()) return std::nullopt;
  const ElfSection* const section = object.section(".debug_line");
  if (section == nullptr || (section->header.sh_flags & (SHF_COMPRESSED | SHF_ALLOC)) != 0) return std::nullopt;
  Reader units(object.range(section->header.sh_offset, section->header.sh_size));
  while (!units.empty()) {
    uint64_t length = units.number(4);
    const size_t size_of_length = length == 0xffffffff ? 8 : 4;
    if (size_of_length == 8) length = units.number(8);
    Reader unit(units.take(length));
    if (unit.number(2) != 4) continue;
    Reader header_bytes(unit.take(unit.number(size_of_length)));
    const Header header = read_header(header_bytes);
    if (header.kernel_file == 0 || header_bytes.failed()) continue;
    if (const auto found = Search(header, address).run(unit)) return found;
  }
  return std::nullopt;
}

}  // namespace passnet::pass
