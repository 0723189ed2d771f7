// The one header of a CPU kernel: PASSNET_KERNEL, the task index, element types, vectors, math and row
// reductions.
//
//   #include <passnet/kernel.h>
//   PASSNET_KERNEL add_relu(const T* x, const T* y, T* out, int64_t n) {   // T is a constant of the launch
//     const auto [first, last] = passnet::chunk(n);                         // this task's part of n elements
//     passnet::for_blocks(first, last, [&](int64_t i, int lanes) {
//       store(out + i, relu(passnet::load(x + i, lanes) + passnet::load(y + i, lanes)), lanes);
//     });
//   }
//
// Parameters are pointers to elements, integers, float, double or bool. A kernel may use its arguments and
// its stack, nothing else: no state between calls, no library, no system call. It runs once per task of the
// grid, on any thread. Everything is inline and works with GCC 12 or later on x86-64-v3, AVX-512 and aarch64.
#pragma once

#include <passnet/elements.h>
#include <passnet/math.h>
#include <passnet/rows.h>
#include <passnet/task.h>
#include <passnet/vec.h>

/// Begins a kernel: `PASSNET_KERNEL name(parameters) { … }`.
#define PASSNET_KERNEL [[maybe_unused]] static void
