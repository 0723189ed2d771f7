#include "report/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <utility>

#include "base/log.h"
#include "base/text/columns.h"
#include "base/text/visible.h"

namespace passnet::report {

namespace {

constexpr size_t kBarCells = 20;

int terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::atomic<bool> quiet_flag{false};

// Rewrites the line on stderr. Unlike fmt::print it does not throw when nobody reads: progress never ends a run.
void rewrite_line(const std::string& text) {
  std::fputs(("\r\x1b[K" + text).c_str(), stderr);
  std::fflush(stderr);
}

// `line`, then as much of the name as `width` leaves room for.
std::string with_name(std::string line, std::string_view current, int width) {
  const size_t room = static_cast<size_t>(std::max(width - 1, 0));
  const std::string name = visible_line(current);
  if (line.size() + 10 < room) line += "  " + shorten_middle(name, room - line.size() - 2);
  return std::string(std::string_view(line).substr(0, columns(line) <= room ? line.size() : room));
}

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  return seconds < 6000 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

void set_quiet(bool quiet) { quiet_flag = quiet; }
bool quiet() { return quiet_flag; }

std::string render_progress(size_t done, size_t total, std::string_view current, double elapsed_s, int width) {
  const size_t filled = total == 0 ? kBarCells : std::min(kBarCells, done * kBarCells / total);
  std::string line = fmt::format("[{:#<{}}{:.<{}}] {}/{}  {}", "", filled, "", kBarCells - filled, done, total,
                                 duration_text(elapsed_s));
  if (done > 0 && done < total) {
    line += fmt::format(", {} left",
                        duration_text(elapsed_s / static_cast<double>(done) * static_cast<double>(total - done)));
  }
  return with_name(std::move(line), current, width);
}

std::string render_count(size_t done, std::string_view unit, std::string_view current, double elapsed_s, int width) {
  const double rate = elapsed_s > 0 ? static_cast<double>(done) / elapsed_s : 0;
  return with_name(fmt::format("{} {}  {}  {:.0f}/s", done, unit, duration_text(elapsed_s), rate), current, width);
}

LiveLine::LiveLine() : LiveLine(isatty(STDERR_FILENO) == 1 && !quiet()) {}

bool LiveLine::is_fresh() const { return drawn_ && Clock::now() < shown_ + std::chrono::milliseconds(100); }
double LiveLine::elapsed_s() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

void LiveLine::show(const std::string& text) {
  if (!terminal_) return;
  rewrite_line(shorten_middle(text, static_cast<size_t>(std::max(terminal_width() - 1, 1))));
  shown_ = Clock::now();
  drawn_ = true;
}

void LiveLine::clear() {
  if (std::exchange(drawn_, false)) rewrite_line("");
}

void CountLine::count(std::string_view current) {
  ++done_;
  if (!line_.on_terminal() || line_.is_fresh()) return;
  line_.show(render_count(done_, unit_, current, line_.elapsed_s(), terminal_width()));
}

ProgressBar::ProgressBar(size_t total) : ProgressBar(total, isatty(STDERR_FILENO) == 1 && !quiet()) {}
ProgressBar::ProgressBar(size_t total, bool terminal) : total_(total), terminal_(terminal) {}
ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::start(std::string_view graph) { draw(graph); }

void ProgressBar::finish(std::string_view graph, std::string_view outcome) {
  ++done_;
  if (terminal_) return draw(graph);
  if (quiet()) return;
  log::info(fmt::format("{}/{} {}: {}", done_, total_, visible_line(graph), outcome));
}

void ProgressBar::clear() {
  if (terminal_) rewrite_line("");
}

void ProgressBar::draw(std::string_view current) {
  if (!terminal_) return;
  const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  rewrite_line(render_progress(done_, total_, current, elapsed_s, terminal_width()));
}

}  // namespace passnet::report
