// The `main` of a fuzz target that is built without libFuzzer: runs the target once on each file given.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int count, char** args) {
  for (int i = 1; i < count; ++i) {
    std::ifstream file(args[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "cannot open '%s'\n", args[i]);
      return 1;
    }
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  }
  return 0;
}
