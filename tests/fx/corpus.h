// The public graphs that tests read where they lie: PASSNET_CORPUS, or ../shared/corpus beside the checkout.
// Tests that find none are skipped, and say so; how many there are is no matter, as the corpus grows.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/paths.h"

namespace passnet::fx {

inline std::filesystem::path corpus() {
  if (const char* given = std::getenv("PASSNET_CORPUS"); given != nullptr && *given != 0) return given;
  return tests::source_dir() / "../shared/corpus";
}

}  // namespace passnet::fx

/// Skips the test when there is no corpus.
#define PASSNET_NEEDS_CORPUS()                               \
  if (!std::filesystem::is_directory(passnet::fx::corpus())) \
  GTEST_SKIP() << "the corpus is not read: " << passnet::fx::corpus().string() << " does not exist"
