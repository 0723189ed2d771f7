// The `main` of a fuzz target that is built without libFuzzer: runs the target once on each file given, and on each
// file of a directory given.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

bool run(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot open '%s'\n", path.c_str());
    return false;
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  return true;
}

}  // namespace

int main(int count, char** args) {
  size_t files = 0;
  for (int i = 1; i < count; ++i) {
    if (!std::filesystem::is_directory(args[i])) {
      if (!run(args[i])) return 1;
      ++files;
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(args[i])) {
      if (!run(entry.path())) return 1;
      ++files;
    }
  }
  std::printf("%zu files\n", files);
  return files == 0;
}
