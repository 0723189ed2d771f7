// Progress on stderr. Of an evaluation: one line rewritten on a terminal, else one log line per finished
// graph.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace passnet::report {

/// No progress from here on, neither lines nor the log of finished graphs (`--quiet`).
void set_quiet(bool quiet);
bool quiet();

/// "[#######.......]  7/20  12 s, about 20 s left  name", at most `width` columns wide.
std::string render_progress(size_t done, size_t total, std::string_view current, double elapsed_s, int width);

/// "1234 graphs  8 s  154/s  name": the same where nobody knows how many there are.
std::string render_count(size_t done, std::string_view unit, std::string_view current, double elapsed_s, int width);

/// That line on stderr, rewritten at most ten times a second; nothing when stderr is no terminal.
class CountLine {
 public:
  explicit CountLine(std::string_view unit);
  CountLine(std::string_view unit, bool terminal) : unit_(unit), terminal_(terminal) {}
  ~CountLine() { clear(); }
  CountLine(const CountLine&) = delete;
  CountLine& operator=(const CountLine&) = delete;

  /// One more is done.
  void count(std::string_view current);
  /// Clears the line, so that something else can be printed; a later count draws it again.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::string_view unit_;
  bool terminal_, drawn_ = false;
  size_t done_ = 0;
  Clock::time_point started_ = Clock::now(), next_ = started_;
};

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
