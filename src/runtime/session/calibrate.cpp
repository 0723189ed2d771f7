#include "runtime/session/calibrate.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "runtime/device/device.h"
#include "runtime/session/process.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/placement.h"

namespace passnet::runtime {

namespace {

using Clock = std::chrono::steady_clock;

/// Bytes that a copy reads and writes. The largest is beyond the caches of most machines; where it is not, the floor that
/// follows is too low, never too high.
constexpr int64_t kMoved[] = {int64_t{32} << 10, int64_t{256} << 10, int64_t{2} << 20, int64_t{16} << 20,
                              int64_t{128} << 20};
constexpr int kTries = 6;
constexpr int64_t kMovedInATry = int64_t{64} << 20;  // by small copies that are repeated

/// ns of `repeats` copies of a half of `memory` to the other, each thread a part of its own.
double copy_ns(const at::Tensor& memory, int64_t moved, int64_t repeats) {
  char* const to = static_cast<char*>(memory.data_ptr());
  const char* const from = to + moved / 2;
  const auto start = Clock::now();
  const int64_t threads = at::get_num_threads();
  for_each_part(threads, [&](int64_t part) {
    const int64_t begin = moved / 2 * part / threads, end = moved / 2 * (part + 1) / threads;
    for (int64_t i = 0; i < repeats; ++i) {
      std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
      // So that no copy is left out as the same as the one before.
      asm volatile("" : : "r"(to), "r"(from) : "memory");
    }
  });
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

record::CopySpeed copy_speed_of_cpu(const at::Tensor& memory, int64_t moved) {
  const int64_t repeats = std::max<int64_t>(1, kMovedInATry / moved);
  double best_ns = copy_ns(memory, moved, 1);
  for (int i = 0; i < kTries; ++i)
    best_ns = std::min(best_ns, copy_ns(memory, moved, repeats) / static_cast<double>(repeats));
  return {moved, static_cast<double>(moved) / best_ns};
}

record::CopySpeed copy_speed_of_gpu(const at::Tensor& memory, int64_t moved) {
  at::Tensor to = memory.narrow(0, 0, moved / 2);
  const at::Tensor from = memory.narrow(0, moved / 2, moved / 2);
  const std::unique_ptr<CallClock> clock = device().make_clock();
  double best_us = 0;
  for (int tries = 0; tries < kTries;) {
    clock->start();
    to.copy_(from);
    const std::optional<double> us = clock->stop();
    if (!us) continue;
    best_us = tries++ == 0 ? *us : std::min(best_us, *us);
  }
  return {moved, static_cast<double>(moved) / (best_us * 1e3)};
}

/// us of a product; nullopt: it could not be timed.
std::optional<double> product_us(const at::Tensor& a, const at::Tensor& b, at::Tensor& out) {
  if (on_gpu()) {
    const std::unique_ptr<CallClock> clock = device().make_clock();
    clock->start();
    at::mm_out(out, a, b);
    return clock->stop();
  }
  const auto start = Clock::now();
  at::mm_out(out, a, b);
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// The fastest of products from small ones to one that takes kEnoughUs, or whose matrices are as large as the largest
/// copy. 0: PyTorch has none of that type here, or no memory for it.
double product_gflop_per_s(at::ScalarType dtype) {
  constexpr int64_t kSmallest = 128;
  constexpr double kEnoughUs = 10'000;
  const auto options = at::TensorOptions(graph_device()).dtype(dtype);
  const auto most_elements = static_cast<int64_t>(*std::max_element(std::begin(kMoved), std::end(kMoved)) /
                                                  static_cast<int64_t>(c10::elementSize(dtype)));
  double fastest = 0;
  try {
    for (int64_t n = kSmallest; 3 * n * n <= most_elements; n *= 2) {
      const at::Tensor a = at::full({n, n}, 0.5, options), b = at::full({n, n}, 0.25, options);
      at::Tensor out = at::empty({n, n}, options);
      double best_us = kEnoughUs;
      for (int tries = 0; tries < kTries; ++tries) {
        const std::optional<double> us = product_us(a, b, out);
        if (!us) continue;
        best_us = std::min(best_us, *us);
        fastest = std::max(fastest, 2e-3 * static_cast<double>(n) * static_cast<double>(n * n) / *us);
        if (tries > 0 && *us >= kEnoughUs) break;
      }
      if (best_us >= kEnoughUs) break;
    }
  } catch (const c10::Error&) {
  }
  return fastest;
}

}  // namespace

std::vector<record::ProductSpeed> measure_products() {
  const c10::InferenceMode mode;
  std::vector<record::ProductSpeed> speeds;
  const auto measure = [&](const char* name, at::ScalarType dtype) {
    if (const double speed = product_gflop_per_s(dtype); speed > 0) speeds.push_back({name, speed});
  };
  measure("float64", at::kDouble);
  measure("float32", at::kFloat);
  measure("bfloat16", at::kBFloat16);
  measure("float16", at::kHalf);
  at::Context& context = at::globalContext();
  if (on_gpu() && context.allowTF32CuDNN()) {
    const bool before = context.allowTF32CuBLAS();
    context.setAllowTF32CuBLAS(true);
    measure(record::kTf32, at::kFloat);
    context.setAllowTF32CuBLAS(before);
  }
  return speeds;
}

std::vector<record::CopySpeed> measure_copies() {
  const c10::InferenceMode mode;
  const at::Tensor memory = at::empty({*std::max_element(std::begin(kMoved), std::end(kMoved))},
                                      at::TensorOptions(graph_device()).dtype(at::kByte));
  memory.zero_();  // its pages are there
  std::vector<record::CopySpeed> speeds;
  for (const int64_t moved : kMoved)
    speeds.push_back(on_gpu() ? copy_speed_of_gpu(memory, moved) : copy_speed_of_cpu(memory, moved));
  return speeds;
}

}  // namespace passnet::runtime
