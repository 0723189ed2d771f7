// A job over named items: several at a time, interrupted and gone on with at will. What became of each is a line of
// JSON in a journal, synced before the next; the last line of a name counts, and an item whose line still holds is not
// done again. capture, decompose, generalize and samples are such jobs; eval, dedup and split use parts of it.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/file/line_file.h"
#include "base/json/json.h"
#include "base/json/json_object.h"
#include "base/result.h"
#include "base/text/strings.h"
#include "graphdir/graph_tree.h"
#include "run/worker/worker.h"

namespace passnet::run {

/// jobs: items at a time. interrupted: no item is begun when it has become true.
using JobOptions = graphdir::TreeOptions;

/// The last line of each name. A line is a struct with JsonFields; what is no JSON or has another form is skipped: what
/// it was about is done again. name_of: a line's name.
template <class Line, class NameOf>
std::map<std::string, Line> last_lines(std::string_view text, NameOf&& name_of) {
  std::map<std::string, Line> lines;
  for (const std::string_view one : split(text, '\n')) {
    const Json json = try_parse_json(one);
    if (json.is_discarded()) continue;
    if (Result<Line> line = from_json_object<Line>(json)) {
      std::string name = std::invoke(name_of, *line);
      lines.insert_or_assign(std::move(name), std::move(*line));
    }
  }
  return lines;
}

/// The line of that name; nullptr when there is none.
template <class Line>
const Line* find_line(const std::map<std::string, Line>& lines, const std::string& name) {
  const auto found = lines.find(name);
  return found == lines.end() ? nullptr : &found->second;
}

/// sink(work(item, slot)) for each item, in order, until one gives an error, `enough` is true or the user interrupts.
/// work gives a Result, and is called by `jobs` threads at once, each with a slot of its own below `jobs`: what it
/// starts there (processes that end with their thread) is its own. sink is called by one thread, with a Result<void> of
/// its own.
/// Errors: the first of work or sink, by item; Resource (interrupted).
template <class Item, class Work, class Sink>
Result<void> for_each_item(std::span<Item> items, const JobOptions& options, Work&& work, Sink&& sink,
                           const std::function<bool()>& enough = {}) {
  std::mutex mutex;
  std::map<std::thread::id, size_t> slots;
  std::atomic<bool> failed = false;  // at once, not only when it is the item's turn in the sink
  size_t next = 0;
  return graphdir::map_until_error(
      [&]() -> std::optional<Item*> {
        if (failed || next == items.size() || (enough && enough())) return std::nullopt;
        return &items[next++];
      },
      [&](Item* item) {
        std::unique_lock lock(mutex);
        const size_t slot = slots.try_emplace(std::this_thread::get_id(), slots.size()).first->second;
        lock.unlock();
        auto made = work(*item, slot);
        if (!made) failed = true;
        return made;
      },
      [&](auto made) -> Result<void> {
        if (!made) return std::move(made).error();
        return sink(std::move(*made));
      },
      options);
}

/// The same for work that gives a Result<void>.
template <class Item, class Work>
Result<void> for_each_item(std::span<Item> items, const JobOptions& options, Work&& work) {
  return for_each_item(
      items, options,
      [&](Item& item, size_t slot) -> Result<std::monostate> {
        PASSNET_TRY_VOID(work(item, slot));
        return std::monostate();
      },
      [](std::monostate) { return Result<void>(); });
}

/// What is done with each item of a job. Made: what work gives. Line: what the journal keeps of it; Json to_json(const
/// Line&) writes it.
template <class Item, class Made, class Line>
struct JobSteps {
  /// The line of an earlier run that says what this one would find; nullptr: the item has to be done.
  std::function<const Line*(const Item&)> find;
  /// Does an item, as in for_each_item.
  std::function<Result<Made>(const Item&, size_t slot)> work;
  /// What the journal keeps of it; nullptr: nothing, for it was cut short or is not wanted. This and `finished` are
  /// called by one thread, in the order of the items.
  std::function<Result<const Line*>(Made&)> keep;
  /// Of each item that is done, by this run (its line is in the journal) or by an earlier one.
  std::function<void(const Line&)> finished;
  std::function<bool()> enough = {};  // nothing more is wanted; may be empty
};

/// Does the items that are not done. Errors: of work and keep, which end the job (what is done stays); Io (the journal
/// cannot be written); Resource (interrupted).
template <class Item, class Made, class Line>
Result<void> run_job(std::span<const Item> items, LineFile& journal, const JobOptions& options,
                     const JobSteps<Item, Made, Line>& steps) {
  struct Done {
    const Line* earlier = nullptr;
    std::optional<Made> made;  // empty: `earlier` stands
  };
  return for_each_item(
      items, options,
      [&](const Item& item, size_t slot) -> Result<Done> {
        if (const Line* earlier = steps.find(item)) return Done{earlier, std::nullopt};
        PASSNET_TRY(Made made, steps.work(item, slot));
        return Done{nullptr, std::move(made)};
      },
      [&](Done done) -> Result<void> {
        if (!done.made) {
          steps.finished(*done.earlier);
          return {};
        }
        PASSNET_TRY(const Line* const line, steps.keep(*done.made));
        if (line == nullptr) return {};
        PASSNET_TRY_VOID(journal.append(dump(to_json(*line))));
        steps.finished(*line);
        return {};
      },
      steps.enough);
}

/// Workers, one per slot of a job, started when it is first asked for, and again after it was lost.
class SlotWorkers {
 public:
  /// worker: how each is started, but for `interrupted`; by default reference workers on the CPU. Each gets processors of
  ///         its own where there are enough.
  explicit SlotWorkers(const JobOptions& options, WorkerOptions worker = {});
  /// Errors: as Worker::start.
  Result<Worker*> at(size_t slot);
  /// The graph that an item of a job is about, in the slot's worker.
  static constexpr const char* kGraph = "whole";
  /// use(the slot's worker), after which kGraph is forgotten there. Errors: of starting it, and of use.
  Result<void> with(size_t slot, const std::function<Result<void>(Worker&)>& use);

 private:
  std::vector<Worker> workers_;
};

}  // namespace passnet::run
