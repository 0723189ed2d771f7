// write_bad_inputs TABLE DIRECTORY: each entry of a table of tests/data/bad as a file of its name.
#include <cstdio>
#include <exception>
#include <filesystem>

#include "base/file/file.h"
#include "tests/bad_inputs.h"

int main(int count, char** args) {
  if (count != 3) {
    std::fprintf(stderr, "usage: write_bad_inputs TABLE DIRECTORY\n");
    return 2;
  }
  try {
    for (const passnet::BadInput& input : passnet::read_bad_inputs(args[1])) {
      const auto written = passnet::write_file(std::filesystem::path(args[2]) / input.name, input.text);
      if (!written) throw std::runtime_error(passnet::to_string(written.error()));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
