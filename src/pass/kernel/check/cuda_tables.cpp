#include "pass/kernel/check/cuda_tables.h"

#include <algorithm>
#include <iterator>

#include "base/hash.h"

namespace passnet::pass {
namespace {

struct Table {
  std::string_view name;
  std::string_view sha256;  // of its bytes
};

constexpr Table kTables[] = {
    // 2/pi in binary, 192 bits of it: sine and cosine of large float32
    {"__cudart_i2opi_f", "af58a7804afd16e4e7a715bd29412e82374ac0eb2196ae5f00fbd5835af8006d"},
    // the same, 1152 bits: of float64
    {"__cudart_i2opi_d", "7ede62875c004cc8c2847b487cb377f75c153593f45bab10b272128e31690cde"},
    // polynomials of sine and cosine, of float64: in CUDA 13.0
    {"__cudart_sin_cos_coeffs", "bf6a9587812432cf5649f28013165faa5a19d2ad0f66fd69cbf13096c2ea4263"},
    // and in CUDA 12.4, 12.8 and Triton 3.6
    {"__cudart_sin_cos_coeffs", "28618dcb0d8ff32bff4d62ee2ec19a7522667bf549227399cd2f958ff4c3efef"},
};

}  // namespace

bool is_cuda_table(std::string_view name, std::string_view bytes) {
  return std::any_of(std::begin(kTables), std::end(kTables),
                     [&](const Table& table) { return name == table.name && sha256_hex(bytes) == table.sha256; });
}

}  // namespace passnet::pass
