// dump_replay WEIGHT_META INPUT_META OUT: writes the bytes of the replayed tensors, inputs first, one after
// the other, and prints one line per tensor: name, dtype, bytes, non-finite elements.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "graphdir/inputs/meta.h"
#include "graphdir/inputs/replay.h"

namespace passnet::graphdir {
namespace {

Result<std::vector<TensorMeta>> load(const std::string& file) {
  PASSNET_TRY(const std::string text, read_file(file, FileKind::Lines));
  return parse_meta(file, text);
}

Result<void> dump(const std::string& weight_meta, const std::string& input_meta, const std::string& out) {
  PASSNET_TRY(const std::vector<TensorMeta> weights, load(weight_meta));
  PASSNET_TRY(const std::vector<TensorMeta> inputs, load(input_meta));
  PASSNET_TRY(const std::vector<HostTensor> tensors, replay(inputs, weights));
  std::string bytes;
  for (const HostTensor& tensor : tensors) {
    bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    fmt::print("{} {} {} {}\n", tensor.name, ir::name(tensor.type.dtype), tensor.bytes.size(), tensor.non_finite);
  }
  return write_file(out, bytes);
}

}  // namespace
}  // namespace passnet::graphdir

int main(int count, char** args) {
  if (count != 4) return 2;
  const auto status = passnet::graphdir::dump(args[1], args[2], args[3]);
  if (!status) fmt::print(stderr, "{}\n", to_string(status.error()));
  return status ? 0 : 1;
}
