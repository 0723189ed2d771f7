// Operands of products of matrices: how their elements are read, and how they lie in shared memory until they are multiplied.
#pragma once

#include <passnet/gpu/memory.h>
#include <passnet/gpu/threads.h>

namespace passnet {

/// Which way an operand of a product goes in memory by neighbours: along what is summed up, or across it.
enum class Neighbours { AlongDepth, AcrossDepth };

/// An operand whose elements lie in memory: at(across, k) is the address of one, where `across` is a row or a column of the
/// result and k a step of the sums. `run` neighbours (a power of two) are read at once: the extent along which they lie is
/// a multiple of `run`, and so is the place of the first of them, counted in elements from a multiple of 16 bytes.
template <Neighbours neighbours, int run, class At>
struct InMemory {
  At at;
};
template <Neighbours neighbours, int run, class At>
PASSNET_INLINE InMemory<neighbours, run, At> in_memory(At at) {
  return {at};
}

/// An operand whose elements are computed: at(across, k) is one, as T.
template <Neighbours neighbours, class At>
struct Computed {
  At at;
};
template <Neighbours neighbours, class At>
PASSNET_INLINE Computed<neighbours, At> computed(At at) {
  return {at};
}

/// Windows of channels that lie `step` elements apart, 16 of which are steps beside each other: step k is of channel k % 16 of
/// block k / 16 / taps, at place k / 16 % taps of the window. at(across)(block, tap): the address of the block's first channel,
/// or null where all of them are zeros.
template <int taps, int64_t step, class At>
struct InBlocks {
  At at;
};
template <int taps, int64_t step, class At>
PASSNET_INLINE InBlocks<taps, step, At> in_blocks(At at) {
  return {at};
}

namespace detail {

/// Steps of a stage, of which three at least fit into shared memory: many where tiles are small, as a stage takes as long as one
/// thread needs for its part of it.
PASSNET_INLINE constexpr int stage_depth(int rows, int columns, int bytes) {
  return (rows + columns <= 128 ? 128 : 64) / bytes;
}
/// Stages whose elements a thread holds in registers: small tiles are multiplied sooner than memory answers.
PASSNET_INLINE constexpr int slots_of(int rows, int columns) { return rows * columns <= 4096 ? 2 : 1; }

/// Elements of one operand in shared memory: `tile` of them across, `depth` steps. They lie in lines, along the depth or across
/// it, whose pieces of 16 bytes are in another order in each line, so that the same pieces of neighbouring lines, which tensor
/// cores are given at once, lie in different banks.
template <class T, bool along_depth, int tile, int depth>
struct Stage {
  enum : int {
    piece = 16 / int(sizeof(T)),
    pieces = (along_depth ? depth : tile) / piece,  // of a line
    size = tile * depth,
  };
  static constexpr bool is_along = along_depth;
  PASSNET_INLINE static int order(int line) {
    if constexpr (sizeof(T) == 4 && !along_depth)
      return line % 4 * 2;  // lanes read two pieces of four lines
    else
      return pieces >= 8 ? line % 8 : pieces == 4 ? line / 2 % 4 : line / 4 % 2;
  }
  PASSNET_INLINE static int place(int across, int k) {
    const int line = along_depth ? across : k, in_line = along_depth ? k : across;
    return (line * pieces + (in_line / piece ^ order(line))) * piece + in_line % piece;
  }
};

/// Elements of an operand that are multiplied in full: neighbours across lie side by side whatever they are read from.
template <int tile, int depth>
struct PaddedStage {
  enum : int { pitch = tile + 4, size = depth * pitch };
  static constexpr bool is_along = false;
  PASSNET_INLINE static int place(int across, int k) { return k * pitch + across; }
};

/// How the threads of a block share out the elements of a stage of one operand: `count` runs for each of them.
template <bool along_depth, int run, int tile, int depth>
struct Shares {
  enum : int { runs_beside = (along_depth ? depth : tile) / run, count = tile * depth / run / thread_count };
  PASSNET_INLINE static int across(int share) {
    const int number = share * thread_count + thread_index();
    return along_depth ? number / runs_beside : number % runs_beside * run;
  }
  PASSNET_INLINE static int step(int share) {
    const int number = share * thread_count + thread_index();
    return along_depth ? number % runs_beside * run : number / runs_beside;
  }
};

/// Copies that go on while others are computed: `bytes` (4, 8 or 16) to shared memory; zeros where `is_there` does not hold.
template <int bytes>
PASSNET_INLINE void begin_copy(void* to, const void* from, bool is_there) {
  const auto address = uint32_t(__cvta_generic_to_shared(to));
  const int size = is_there ? bytes : 0;
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(size) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(bytes), "r"(size)
                 : "memory");
}
/// What was begun since the last time is a group.
PASSNET_INLINE void close_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Until at most the last `groups` of this thread are under way.
template <int groups>
PASSNET_INLINE void wait_for_all_but() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

/// Brings elements of an operand to a stage: fetch() begins it, settle() ends it after something else was computed. Between
/// them elements are on their way to the stage, or are held in registers, in one of several slots.
template <class T, class Products, int tile, bool along, int run, class At>
struct RunReader {
  static constexpr bool along_depth = along, holds = false;
  using Stage = typename Products::template Stage<along_depth, tile>;
  using Share = Shares<along_depth, run, tile, Products::depth>;
  At at;

  PASSNET_INLINE void fetch(int, int64_t first, int begin, int64_t extent, int depth, T* stage) {
#pragma unroll
    for (int share = 0; share < Share::count; ++share) {
      const int64_t across = first + Share::across(share);
      const int k = begin + Share::step(share);
      const bool is_there = across < extent && k < depth;
      const T* const from = at(across, k);
      if constexpr (Stage::is_along == along_depth) {
        begin_copy<run* int(sizeof(T))>(stage + Stage::place(Share::across(share), Share::step(share)), from, is_there);
      } else {
#pragma unroll
        for (int i = 0; i < run; ++i) {
          T* const to = stage + Stage::place(Share::across(share), Share::step(share) + i);
          begin_copy<int(sizeof(T))>(to, from + i, is_there);
        }
      }
    }
  }
  PASSNET_INLINE void settle(int, T*) {}
};

/// What lies there, or zero.
template <class T>
PASSNET_INLINE uint32_t held_or_zero(const T* from, bool is_there) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4);
  return is_there ? uint32_t(__ldg(reinterpret_cast<const typename Word<int(sizeof(T))>::type*>(from))) : 0u;
}

/// Of windows, 16 channels after 16 channels: a thread has 16 bytes of a place, which it stores at once.
template <class T, class Products, int tile, int taps, int64_t step, class At>
struct BlockReader {
  static constexpr bool along_depth = true, holds = true;
  using Stage = typename Products::template Stage<true, tile>;
  enum : int {
    block = 16,
    piece = 16 / int(sizeof(T)),
    of_block = tile * block / piece,  // pieces
    count = tile * Products::depth / piece / thread_count,
  };
  At at;
  // An element of 16 bits has a register of its own: nothing can be done to it before it is there.
  uint32_t held[Products::slots][count][piece];

  PASSNET_INLINE static int number(int share) { return share * thread_count + thread_index(); }
  /// The same for all threads where they have a whole block.
  PASSNET_INLINE static int block_of(int share) {
    return of_block % thread_count == 0 ? share / (of_block / thread_count) : number(share) / of_block;
  }
  PASSNET_INLINE static int across(int share) { return number(share) % tile; }
  PASSNET_INLINE static int channel(int share) { return number(share) % of_block / tile * piece; }

  PASSNET_INLINE void fetch(int slot, int64_t first, int begin, int64_t extent, int depth, T*) {
    // All of a thread's pieces are of one place.
    static_assert(thread_count % tile == 0);
    const int64_t place = first + across(0);
    const auto windows = at(place);
#pragma unroll
    for (int share = 0; share < count; ++share) {
      const uint32_t k = uint32_t(begin) / block + block_of(share);
      const T* const from = windows(k / taps, k % taps);
      const bool is_there = from != nullptr && place < extent && k < uint32_t(depth) / block;
#pragma unroll
      for (int i = 0; i < piece; ++i) held[slot][share][i] = held_or_zero(from + (channel(share) + i) * step, is_there);
    }
  }
  PASSNET_INLINE void settle(int slot, T* stage) {
#pragma unroll
    for (int share = 0; share < count; ++share) {
      const auto& words = held[slot][share];
      const int first = block_of(share) * block + channel(share);
      if constexpr (!Stage::is_along) {
#pragma unroll
        for (int i = 0; i < piece; ++i) stage[Stage::place(across(share), first + i)] = __uint_as_float(words[i]);
      } else {
        uint4& to = *reinterpret_cast<uint4*>(stage + Stage::place(across(share), first));
        if constexpr (sizeof(T) == 4)
          to = {words[0], words[1], words[2], words[3]};
        else
          to = {words[0] | words[1] << 16, words[2] | words[3] << 16, words[4] | words[5] << 16,
                words[6] | words[7] << 16};
      }
    }
  }
};

/// Elements one by one, by way of registers.
template <class T, class Products, int tile, bool along, class Element>
struct ElementReader {
  static constexpr bool along_depth = along, holds = true;
  using Stage = typename Products::template Stage<along_depth, tile>;
  using Share = Shares<along_depth, 1, tile, Products::depth>;
  Element element;
  T held[Products::slots][Share::count];

  PASSNET_INLINE void fetch(int slot, int64_t first, int begin, int64_t extent, int depth, T*) {
#pragma unroll
    for (int share = 0; share < Share::count; ++share) {
      const int64_t across = first + Share::across(share);
      const int k = begin + Share::step(share);
      held[slot][share] = across < extent && k < depth ? element(across, k) : T(0.0f);
    }
  }
  PASSNET_INLINE void settle(int slot, T* stage) {
#pragma unroll
    for (int share = 0; share < Share::count; ++share)
      stage[Stage::place(Share::across(share), Share::step(share))] = held[slot][share];
  }
};

template <class T, class Products, int tile, Neighbours neighbours, class At>
PASSNET_INLINE auto reader_of(const Computed<neighbours, At>& operand) {
  return ElementReader<T, Products, tile, neighbours == Neighbours::AlongDepth, At>{operand.at};
}
template <class T, class Products, int tile, Neighbours neighbours, int run, class At>
PASSNET_INLINE auto reader_of(const InMemory<neighbours, run, At>& operand) {
  if constexpr (run * int(sizeof(T)) >= 4) {
    return RunReader<T, Products, tile, neighbours == Neighbours::AlongDepth, run, At>{operand.at};
  } else {
    const auto element = [at = operand.at](int64_t across, int64_t k) { return *at(across, k); };
    return ElementReader<T, Products, tile, neighbours == Neighbours::AlongDepth, decltype(element)>{element};
  }
}

template <class T, class Products, int tile, int taps, int64_t step, class At>
PASSNET_INLINE auto reader_of(const InBlocks<taps, step, At>& operand) {
  return BlockReader<T, Products, tile, taps, step, At>{operand.at};
}

}  // namespace detail

}  // namespace passnet
