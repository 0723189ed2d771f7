// The one header of a kernel: PASSNET_KERNEL, the task index, element types, vectors, math and reductions.
//
// On the CPU (Name.cpp) a kernel runs once per task of the grid, on any thread:
//
//   #include <passnet/kernel.h>
//   PASSNET_KERNEL add_relu(const T* x, const T* y, T* out, int64_t n) {   // T is a constant of the launch
//     const auto [first, last] = passnet::chunk(n);                         // this task's part of n elements
//     passnet::for_blocks(first, last, [&](int64_t i, int lanes) {
//       store(out + i, relu(passnet::load(x + i, lanes) + passnet::load(y + i, lanes)), lanes);
//     });
//   }
//
// On the GPU (Name.cu) a task is a block of threads:
//
//   #include <passnet/kernel.h>
//   PASSNET_KERNEL add_relu(const T* x, const T* y, T* out, int64_t n) {
//     const int64_t i = passnet::global_index();
//     if (i < n) out[i] = passnet::from_float<T>(passnet::relu(passnet::to_float(x[i]) + passnet::to_float(y[i])));
//   }
//
// Parameters are pointers to elements, integers, float, double or bool. A kernel may use its arguments and
// its stack (on the GPU also shared memory), nothing else: no state between calls, no library, no system call.
// Everything is inline and works with GCC 12 or later on x86-64-v3 and AVX-512, and with CUDA 12 or later.
#pragma once

#if defined(__CUDACC__)
#include <passnet/gpu/memory.h>
#include <passnet/gpu/moments.h>
#include <passnet/gpu/parameters.h>
#include <passnet/gpu/products.h>
#include <passnet/gpu/rows.h>
#include <passnet/gpu/threads.h>
#include <passnet/gpu/tiles.h>

/// Begins a kernel: `PASSNET_KERNEL name(parameters) { … }`. The bounds say that one block per processor will do: the
/// compiler then spends registers on having many reads under way, not on having many blocks.
#define PASSNET_KERNEL extern "C" __global__ void __launch_bounds__(PASSNET_BLOCK, 1) PASSNET_CLUSTERED_
#else
#include <passnet/elements.h>
#include <passnet/math.h>
#include <passnet/planes.h>
#include <passnet/product_operands.h>
#include <passnet/products.h>
#include <passnet/rows.h>
#include <passnet/task.h>
#include <passnet/vec.h>

/// Begins a kernel: `PASSNET_KERNEL name(parameters) { … }`.
#define PASSNET_KERNEL [[maybe_unused]] static void
#endif
