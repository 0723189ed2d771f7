// The machine shared graph by graph: between two graphs others who wait for it get their turn.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

#include "run/machine/machine_lock.h"

namespace passnet::run {

/// What the slots of one evaluation hold together. Used by several threads.
class Turns {
 public:
  /// The lease must outlive this.
  Turns(MachineLease& lease, Waiting waiting) : lease_(lease), waiting_(std::move(waiting)) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  /// A graph that is evaluated, for as long as this lives.
  class Graph {
   public:
    explicit Graph(Turns* turns = nullptr) : turns_(turns) {}
    Graph(Graph&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)) {}
    Graph& operator=(Graph&&) = delete;
    ~Graph();

   private:
    Turns* turns_;
  };
  /// Where others wait, first ends the graphs of the other slots and gives them their turn. turns: may be null. Errors: as
  /// MachineLease::give_turn.
  static Result<Graph> begin_graph(Turns* turns);

 private:
  Result<void> begin();

  MachineLease& lease_;
  const Waiting waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int busy_ = 0;        // graphs
  uint64_t given_ = 0;  // turns of others so far
};

}  // namespace passnet::run
