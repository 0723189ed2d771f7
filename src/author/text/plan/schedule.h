// Rules by which plans launch their kernels for given shapes, as functions of the plan. What is said of a pass follows from
// the same texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace passnet::author {

/// CUDA: columns of a block whose threads share them, at least: so many neighbours are read together.
inline constexpr int64_t kFewestColumns = 16;

/// The numbers in these rules.
struct Schedule {
  /// GPU: threads that should have work before a row is left to a warp, or fewer than a block of it.
  int64_t row_threads = 65536;
  /// GPU: threads that should have work before one takes several elements, or blocks grow: half of what a large one holds.
  int64_t pack_threads = 131072;
  /// GPU: places one below the other that a thread takes at most, where their windows have rows in common.
  int64_t band = 4;
  /// GPU: processors of a large one.
  int64_t processors = 132;
  /// GPU: blocks that should have work before a row is left to one: two for each processor of a large one; 0: rows are
  /// never split.
  int64_t split_blocks = 264;
  /// GPU: elements of a row that a block has at least where several share it.
  int64_t split_share = 2048;
  /// CPU: tasks of a kernel at most, and steps that are worth one.
  int64_t tasks = 16;
  int64_t task_work = 8192;
  /// CPU: multiplications that are worth a task, of a product in tiles.
  int64_t task_products = 131072;
  /// Loads and stores along different loops go through tiles.
  bool tiles = true;
  bool operator==(const Schedule&) const = default;
};

/// Threads of a block that has a tile of sums.
inline constexpr int64_t kThreadsOfTile = 128;

/// Functions of a plan that go together.
enum class Rule : uint8_t { Items, Products, Tiles, Rows, Pack, Band, Down, Parts };
inline constexpr Rule kAllRules[] = {Rule::Items, Rule::Products, Rule::Tiles, Rule::Rows,
                                     Rule::Pack,  Rule::Band,     Rule::Down,  Rule::Parts};
std::string_view rule_text(Rule rule);
/// Returns the lines of a plan that define the constants which the text names.
std::string constants_of(const std::string& text, const Schedule& schedule);

/// Evaluates numbers as a plan does. numbers: "threads_of(8, 1024), pack_of(x, 8, 65536, ())", by the functions of all rules; x: a
/// tensor of 16-bit elements.
std::vector<int64_t> evaluate_rules(const Schedule& schedule, const std::string& numbers, bool on_gpu);

}  // namespace passnet::author
