// Work in parts, on the threads of PyTorch's operators.
#pragma once

#include <cstdint>
#include <functional>

namespace passnet::runtime {

/// Elements that one thread looks at in a row: enough to be worth waking it.
inline constexpr int64_t kPartElements = 65536;

/// Calls work(i) for each i below `parts`, in any order and several at once, and waits for all. at::parallel_for does so in
/// code that is compiled with OpenMP alone; ours is not, as that would bring threads of its own.
void for_each_part(int64_t parts, const std::function<void(int64_t part)>& work);

/// The same for ranges [first, last) of at most `length` that make up [0, count).
void for_each_range(int64_t count, int64_t length, const std::function<void(int64_t first, int64_t last)>& work);

}  // namespace passnet::runtime
