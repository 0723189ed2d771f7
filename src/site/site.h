// A site of static pages out of runs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::site {

struct SiteRequest {
  std::vector<std::string> runs;      // as board.h has them: runs_in
  std::filesystem::path out;          // files of a site that is there are written anew; others stay
  std::filesystem::path store;        // for the history; empty: no such page
  std::vector<std::string> selftest;  // "JUDGE=FILE", or a file of `passnet selftest --json`; empty: no such page
  size_t threads = 1;
};

struct Written {
  size_t entries = 0, tasks = 0, records = 0, pages = 0;
};

/// Errors: as load_board; BadInput: a store or a result of selftest that cannot be read; Io.
Result<Written> write_site(const SiteRequest& request);

}  // namespace passnet::site
