// Progress of an evaluation on stderr: one line rewritten on a terminal, else one log line per finished
// graph.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace passnet::report {

/// "[#######.......]  7/20  12 s, about 20 s left  name", at most `width` columns wide.
std::string render_progress(size_t done, size_t total, std::string_view current, double elapsed_s, int width);

class ProgressBar {
 public:
  /// terminal: rewrite one line; false: log::info one line per graph. The default asks whether stderr is a
  /// terminal.
  explicit ProgressBar(size_t total);
  ProgressBar(size_t total, bool terminal);
  ~ProgressBar();  // clears the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void start(std::string_view graph);
  /// outcome: what the info line says after the name, for example "correct 2.31x".
  void finish(std::string_view graph, std::string_view outcome);
  /// Clears the line, so that something else can be printed; the next start draws it again.
  void clear();

 private:
  void draw(std::string_view current);

  size_t total_, done_ = 0;
  bool terminal_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace passnet::report
