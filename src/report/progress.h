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

/// "12 s", "35 min", "2.4 h"
std::string duration_text(double seconds);

/// A line on stderr that is written anew, while this lives; nothing when stderr is no terminal, or with --quiet.
class LiveLine {
 public:
  LiveLine();
  explicit LiveLine(bool terminal) : terminal_(terminal) {}
  ~LiveLine() { clear(); }
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  bool on_terminal() const { return terminal_; }
  /// Whether it was shown less than a tenth of a second ago: flicker helps nobody.
  bool is_fresh() const;
  /// text: without an end; what does not fit into the terminal is left out.
  void show(const std::string& text);
  /// So that something else can be printed.
  void clear();
  double elapsed_s() const;

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_, drawn_ = false;
  Clock::time_point started_ = Clock::now(), shown_{};
};

/// The line of render_count().
class CountLine {
 public:
  explicit CountLine(std::string_view unit) : unit_(unit) {}
  CountLine(std::string_view unit, bool terminal) : unit_(unit), line_(terminal) {}

  /// One more is done.
  void count(std::string_view current);
  void clear() { line_.clear(); }

 private:
  std::string_view unit_;
  LiveLine line_;
  size_t done_ = 0;
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
