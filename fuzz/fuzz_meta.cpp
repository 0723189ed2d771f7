// Any text as a weight_meta.py: an error that has a place, or records that read back from what is printed of
// them.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "graphdir/inputs/meta.h"
#include "graphdir/inputs/replay.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace passnet;
  const auto records = graphdir::parse_meta("weight_meta.py", {reinterpret_cast<const char*>(data), size});
  if (!records) {
    if (!records.error().at || records.error().message.empty()) std::abort();
    return 0;
  }
  const std::string printed = graphdir::print_meta(*records);
  const auto again = graphdir::parse_meta("printed.py", printed);
  if (!again || graphdir::print_meta(*again) != printed) std::abort();
  int64_t bytes = 0;
  for (const graphdir::TensorMeta& meta : *records) bytes += ir::contiguous(meta.dtype, meta.shape).size_bytes() >> 10;
  if (bytes < 64) {
    if (const auto tensors = graphdir::replay({}, *records); tensors && tensors->size() != records->size())
      std::abort();
  }
  return 0;
}
