// A site of static pages out of runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "site/board.h"

namespace passnet::site {

struct SiteRequest {
  std::vector<NamedRun> runs;
  std::filesystem::path out;          // files of a site that is there are written anew; others stay
  std::filesystem::path store;        // for the history; empty: no such page
  std::vector<std::string> selftest;  // "JUDGE=FILE", or a file of `passnet selftest --json`; empty: no such page
  size_t threads = 1;
  uint64_t version = 0;  // of pages that are served while runs grow (live.h); 0: pages for a disk or a static host
};

struct Written {
  size_t entries = 0, tasks = 0, records = 0, pages = 0;
};

/// Errors: as load_board; BadInput: a store or a result of selftest that cannot be read; Io.
Result<Written> write_site(const SiteRequest& request);

}  // namespace passnet::site
