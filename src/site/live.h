// Pages of runs that are still being written, served while they grow: made anew when records were added, and open pages
// are told.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/file/temporary_directory.h"
#include "base/result.h"
#include "http/server.h"
#include "site/board.h"

namespace passnet::site {

class LiveSite {
 public:
  /// runs: arguments of runs_in(), asked again at each refresh. Errors: as refresh(); BadInput: one does not exist.
  static Result<std::unique_ptr<LiveSite>> make(std::vector<std::string> runs, size_t threads);

  /// Makes the pages anew where a run has other records than before; a run without a record is left out.
  /// Returns: whether there were any. Errors: as write_site; the pages stay as they were.
  Result<bool> refresh();
  /// Refreshes until `stop`, each second; less often where that takes long. say: called with each new error.
  void follow(const std::atomic<bool>& stop, const std::function<void(const Error&)>& say);

  size_t records() const { return records_; }
  /// GET of all pages, and of /events?since=VERSION: server-sent events, "records" for each newer version of the pages.
  /// They must not outlive this.
  std::vector<http::Route> routes() const;

 private:
  LiveSite(std::vector<std::string> runs, size_t threads, TemporaryDirectory pages);
  http::Reply events(const http::ServerRequest& request) const;

  const std::vector<std::string> arguments_;
  const size_t threads_;
  const TemporaryDirectory pages_;
  std::string seen_;  // sizes and times of the records that the pages show
  std::atomic<uint64_t> version_ = 0;
  std::atomic<size_t> records_ = 0;
};

}  // namespace passnet::site
