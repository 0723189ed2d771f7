#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <span>

#include "record/stats.h"
#include "report/svg.h"

namespace passnet::report {

namespace {

constexpr int kWidth = 600, kHeight = 100;
constexpr size_t kMostShaded = 150;  // columns; narrower ones would be a gray surface

/// The trials of one side, block by block; one block when the record has none.
std::vector<std::span<const double>> blocks_of(const record::Timing& timing) {
  const std::span<const double> all(timing.trials_us);
  const auto total = std::accumulate(timing.blocks.begin(), timing.blocks.end(), int64_t{0});
  const bool fits =
      total == static_cast<int64_t>(all.size()) && std::ranges::all_of(timing.blocks, [](int n) { return n > 0; });
  if (timing.blocks.empty() || !fits) return {all};
  std::vector<std::span<const double>> blocks;
  size_t at = 0;
  for (const int count : timing.blocks) {
    blocks.push_back(all.subspan(at, static_cast<size_t>(count)));
    at += static_cast<size_t>(count);
  }
  return blocks;
}

/// Where each column begins, in pixels; one more for the end. A column is as wide as its longer block.
std::vector<double> columns_of(const std::vector<std::span<const double>>& a,
                               const std::vector<std::span<const double>>& b) {
  std::vector<double> edges{0};
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const size_t longest = std::max(i < a.size() ? a[i].size() : 0, i < b.size() ? b[i].size() : 0);
    edges.push_back(edges.back() + static_cast<double>(longest));
  }
  for (double& edge : edges) edge *= kWidth / edges.back();
  return edges;
}

/// Whole pixels as a path of relative steps, a line per block. A block of one pixel is a level line as wide as its
/// column: browsers paint no line that only moves. Where many trials share a pixel, the least and the greatest are
/// kept, so no peak is lost and a million trials need no more room than a thousand.
class TrialPath {
 public:
  explicit TrialPath(double top_us) : top_us_(top_us) {}

  void add_block(std::span<const double> trials, double left, double right) {
    bool is_first_trial = true;
    const auto first_pixel = static_cast<int>(std::lround(left));
    const int width = std::max(1, static_cast<int>(std::lround(right)) - first_pixel);
    for (size_t i = 0; i < trials.size(); ++i) {
      const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(trials.size());
      const int x = static_cast<int>(std::lround(left + (right - left) * share));
      if (trials[i] > top_us_) {
        ++beyond_count_;
        if (beyond_.empty() || beyond_.back() != x) beyond_.push_back(x);
      }
      const int y = kHeight - static_cast<int>(std::lround(kHeight * std::min(trials[i] / top_us_, 1.0)));
      if (is_first_trial && (!is_open_ || x != column_)) {
        flush();
        begins_block_ = is_lone_ = true;
        left_ = first_pixel, width_ = width;
      } else if (x != column_) {
        is_lone_ = false;
        flush();
      }
      if (!is_open_) column_ = x, low_ = high_ = y;
      is_open_ = true;
      low_ = std::min(low_, y), high_ = std::max(high_, y);
      is_first_trial = false;
    }
  }
  /// Ends the last block.
  void finish() { flush(); }
  const std::string& path() const { return path_; }
  /// Columns with trials above the upper edge, and how many these are.
  const std::vector<int>& beyond() const { return beyond_; }
  int beyond_count() const { return beyond_count_; }

 private:
  void flush() {
    if (!is_open_) return;
    const bool is_level = is_lone_ && high_ == low_;
    step(begins_block_ ? 'm' : 'l', is_level ? left_ : column_, low_);
    if (is_level) step('l', left_ + width_, low_);
    if (high_ != low_) step('l', column_, high_);
    is_open_ = begins_block_ = is_lone_ = false;
  }
  void step(char kind, int x, int y) {
    path_ += fmt::format("{}{} {}", kind, x - x_, y - y_);
    x_ = x, y_ = y;
  }

  const double top_us_;
  std::string path_;
  std::vector<int> beyond_;
  int beyond_count_ = 0;
  int x_ = 0, y_ = 0;                    // where the path has come to
  int column_ = 0, low_ = 0, high_ = 0;  // the pixel that is being filled
  int left_ = 0, width_ = 0;             // the block's column
  bool is_open_ = false, begins_block_ = false, is_lone_ = false;
};

std::string shading_svg(const std::vector<double>& edges) {
  if (edges.size() > kMostShaded) return {};
  std::string path;
  for (size_t i = 1; i + 1 < edges.size(); i += 2) {
    fmt::format_to(std::back_inserter(path), "M{:.0f} 0H{:.0f}V{}H{:.0f}z", edges[i], edges[i + 1], kHeight, edges[i]);
  }
  return path.empty() ? "" : fmt::format("<path class=\"block\" d=\"{}\"/>", path);
}

}  // namespace

TrialsDrawing render_trials_svg(const record::Timing& reference, const record::Timing& candidate) {
  if (reference.trials_us.empty() || candidate.trials_us.empty()) return {};
  TrialsDrawing drawing;
  drawing.longest_us = std::max(std::ranges::max(reference.trials_us), std::ranges::max(candidate.trials_us));
  const double middle =
      std::max(record::summarize(reference.trials_us).median, record::summarize(candidate.trials_us).median);
  drawing.top_us = std::min(drawing.longest_us, 3 * middle);
  if (!std::isfinite(drawing.longest_us) || !(drawing.top_us > 0)) return {};
  const auto before = blocks_of(reference), after = blocks_of(candidate);
  const std::vector<double> edges = columns_of(before, after);
  TrialPath first(drawing.top_us), second(drawing.top_us);
  for (size_t i = 0; i < before.size(); ++i) first.add_block(before[i], edges[i], edges[i + 1]);
  for (size_t i = 0; i < after.size(); ++i) second.add_block(after[i], edges[i], edges[i + 1]);
  first.finish(), second.finish();
  std::string marks;
  for (const TrialPath* side : {&first, &second}) {
    drawing.beyond += side->beyond_count();
    for (const int x : side->beyond()) marks += fmt::format("M{} 0v7", x);
  }
  drawing.svg = fmt::format(
      "<svg class=\"trials\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"trial times "
      "in the order "
      "taken\">{}<path class=\"before\" d=\"{}\"/><path class=\"after\" d=\"{}\"/>{}</svg>",
      kWidth, kHeight, shading_svg(edges), first.path(), second.path(),
      marks.empty() ? "" : fmt::format("<path class=\"beyond\" d=\"{}\"/>", marks));
  return drawing;
}

}  // namespace passnet::report
