#include "dataset/sizes/variant_sizes.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace passnet::dataset {

namespace {

using Rows = std::vector<std::vector<int64_t>>;

struct Class {
  std::vector<std::string_view> signatures;
  Rows rows;
};

Rows of_one(std::initializer_list<int64_t> values) {
  Rows rows;
  for (const int64_t value : values) rows.push_back({value});
  return rows;
}

// clang-format off
const std::vector<Class>& classes() {
  static const std::vector<Class> kClasses{
      {{"[(S0,3,S1,S1)]"}, {{1, 224}, {1, 256}, {1, 384}, {32, 224}, {32, 256}, {32, 384}, {128, 224}, {128, 256}, {128, 384}}},
      {{"[(1,3,S0,S0)]"}, of_one({128, 192, 224, 256, 336, 384, 448, 512, 640})},
      {{"[(S0,3,512,512)]", "[(S0,3,640,640)]"}, of_one({1, 2, 4, 8, 12, 16, 24, 32, 64})},
      {{"[(S0,3,224,224)]", "[(S0,3,256,192)]", "[(S0,3,256,256)]"}, of_one({1, 4, 8, 16, 32, 64, 128, 256, 512})},
      {{"[(S0,3,512,1024)]"}, of_one({1, 2, 4, 6, 8, 12, 16, 24, 32})},
      {{"[(S0,)]"}, of_one({1, 2, 4, 8, 16, 32, 48, 64, 128})},
      {{"[(S0,3,S1,S2)]"}, {{1, 256, 192}, {4, 128, 128}, {1, 384, 288}, {2, 512, 512}, {8, 256, 256}, {64, 96, 96}, {16, 256, 192}, {32, 192, 256}, {8, 480, 640}}},
      {{"[(1,S0,3,S1,S1)]"}, {{8, 112}, {16, 112}, {4, 448}, {8, 224}, {8, 384}, {32, 112}, {16, 224}, {64, 112}, {32, 224}}},
      {{"[(S0,80,S1),(S0,)]"}, {{1, 500}, {16, 200}, {2, 3000}, {4, 2000}, {8, 1000}, {64, 200}, {4, 4000}, {32, 500}, {16, 1000}}},
      {{"[(S0,),(S1,80,S2),(S1,)]"}, {{1, 1, 500}, {2, 2, 3000}, {4, 4, 2000}, {16, 16, 200}, {8, 8, 1000}, {4, 4, 4000}, {16, 16, 1000}, {32, 32, 500}, {64, 64, 200}}},
      {{"[(S0,S1,S2)]", "[(S0,S1,S2,S2)]", "[(S0,3,S1,S2,S2)]"}, {{1, 8, 8}, {1, 8, 16}, {1, 16, 16}, {2, 16, 16}, {1, 16, 32}, {1, 32, 32}, {2, 16, 32}, {2, 32, 32}, {4, 16, 32}}},
      {{"[(S0,S1,S1,384)]"}, {{1, 64}, {1, 128}, {1, 192}, {1, 224}, {1, 256}, {4, 224}, {8, 224}, {32, 224}, {64, 224}}},
      {{"[(S0,S1),(S0,S1,2560)]"}, {{1, 16}, {1, 32}, {1, 64}, {2, 32}, {1, 128}, {2, 64}, {1, 256}, {2, 128}, {2, 256}}},
      {{"[(S0,S1,256),(S0,S1,256)]", "[(S0,S1),(S0,S1,3072)]", "[(S0,S1),(S0,S1,1024),(S0,S1,1024)]"}, {{1, 8}, {1, 16}, {1, 32}, {2, 16}, {1, 64}, {2, 32}, {2, 64}, {4, 32}, {4, 64}}},
  };
  return kClasses;
}

const Rows kGeneric[] = {
    of_one({1, 2, 4, 16, 32, 64, 128, 256, 512}),
    {{1, 16}, {4, 16}, {1, 256}, {16, 16}, {4, 256}, {256, 16}, {1, 4096}, {16, 256}, {16, 4096}},
    {{1, 16, 16}, {4, 16, 16}, {1, 16, 256}, {1, 256, 16}, {16, 16, 16}, {4, 16, 256}, {4, 256, 16}, {1, 256, 256}, {16, 16, 256}},
    {{1, 16, 16, 16}, {4, 16, 16, 16}, {1, 16, 16, 256}, {1, 16, 256, 16}, {1, 256, 16, 16}, {16, 16, 16, 16}, {4, 16, 16, 256}, {4, 16, 256, 16}, {1, 16, 256, 256}},
};
// clang-format on

}  // namespace

std::vector<std::vector<int64_t>> variant_sizes(const std::string& signature, std::span<const DataSymbol> symbols) {
  for (const Class& one : classes()) {
    if (std::ranges::find(one.signatures, signature) != one.signatures.end()) return one.rows;
  }
  if (symbols.empty() || symbols.size() > std::size(kGeneric)) return {};
  Rows rows = kGeneric[symbols.size() - 1];
  for (std::vector<int64_t>& row : rows) {
    for (size_t k = 0; k < row.size(); ++k) {
      if (symbols[k].is_of_pictures && symbols.size() > 1) row[k] = row[k] == 16 ? 224 : row[k] == 4096 ? 384 : row[k];
    }
  }
  // Rows that pictures made equal.
  Rows unique;
  for (std::vector<int64_t>& row : rows) {
    if (std::ranges::find(unique, row) == unique.end()) unique.push_back(std::move(row));
  }
  return unique;
}

}  // namespace passnet::dataset
