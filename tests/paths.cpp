#include "tests/paths.h"

namespace passnet::tests {

std::filesystem::path source_dir() { return PASSNET_SOURCE_DIR; }
std::filesystem::path binary_dir() { return PASSNET_BINARY_DIR; }

}  // namespace passnet::tests
