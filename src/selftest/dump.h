// A bundle of the corpus as a sample of its own.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "selftest/corpus.h"

namespace passnet::selftest {

/// Writes `directory` as a sample that `passnet eval` takes: graph_list.txt, graphs/ and pass_dir/. Its expect.json says
/// what must become of it.
/// Errors: Io; BadInput: there is something in `directory`, or it is no directory.
Result<void> dump_bundle(const Bundle& bundle, const std::filesystem::path& directory);

}  // namespace passnet::selftest
