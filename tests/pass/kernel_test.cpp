// include/passnet/kernel.h, compiled as kernels are and run in the test: tasks, element types, blocks, fused
// kernels.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <thread>

#include "kernel_fixture.h"
#include "loaded_kernel.h"
#include "tests/tiers.h"

namespace passnet::pass {
namespace {

using testing::ElementsAre;

/// Element types by their storage, with conversions written here anew: the rules of IEEE 754 in plain double
/// arithmetic.
struct Element {
  ir::DType dtype;
  int exponent_bits, mantissa_bits;
  bool operator==(const Element&) const = default;
};
constexpr Element kFloat{ir::DType::Float32, 8, 23}, kHalf{ir::DType::Float16, 5, 10},
    kBrain{ir::DType::BFloat16, 8, 7};

double decode(uint64_t bits, Element e) {
  const int bias = (1 << (e.exponent_bits - 1)) - 1;
  const uint64_t fraction = bits & ((1ull << e.mantissa_bits) - 1);
  const int exponent = static_cast<int>(bits >> e.mantissa_bits) & ((1 << e.exponent_bits) - 1);
  const double sign = bits >> (e.exponent_bits + e.mantissa_bits) & 1 ? -1 : 1;
  if (exponent == (1 << e.exponent_bits) - 1) return fraction ? std::nan("") : sign * HUGE_VAL;
  const double scaled = static_cast<double>(fraction) + (exponent ? std::ldexp(1.0, e.mantissa_bits) : 0.0);
  return sign * std::ldexp(scaled, std::max(exponent, 1) - bias - e.mantissa_bits);
}
/// The nearest value of the type, ties to even, as a double.
double round_to(double x, Element e) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int bias = (1 << (e.exponent_bits - 1)) - 1;
  const int exponent = std::max(std::ilogb(x), 1 - bias);
  const double unit = std::ldexp(1.0, exponent - e.mantissa_bits);
  const double rounded = std::nearbyint(x / unit) * unit;
  return std::fabs(rounded) >= std::ldexp(1.0, bias + 1) ? std::copysign(HUGE_VAL, x) : rounded;
}

/// The bits of a value that the type has; inverse of decode.
uint64_t bits_of(double exact, Element e) {
  const int bias = (1 << (e.exponent_bits - 1)) - 1;
  const uint64_t infinity = ((1ull << e.exponent_bits) - 1) << e.mantissa_bits;
  const uint64_t sign = uint64_t{std::signbit(exact)} << (e.exponent_bits + e.mantissa_bits);
  if (std::isnan(exact)) return infinity | 1ull << (e.mantissa_bits - 1);
  if (std::isinf(exact)) return sign | infinity;
  const int exponent = exact == 0 ? 1 - bias : std::max(std::ilogb(exact), 1 - bias);
  const auto scaled =
      static_cast<uint64_t>(std::ldexp(std::fabs(exact), e.mantissa_bits - exponent));  // with the hidden bit
  return sign | (scaled + (static_cast<uint64_t>(exponent + bias - 1) << e.mantissa_bits));
}

/// A tensor of one of the three types, filled from doubles.
class Tensor {
 public:
  Tensor(Element element, const std::vector<double>& values) : element_(element), bytes_(values.size() * width()) {
    for (size_t i = 0; i < values.size(); ++i) encode(i, round_to(values[i], element));
  }
  void* data() { return bytes_.data(); }
  double operator[](size_t i) const {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes_.data() + i * width(), width());
    return decode(bits, element_);
  }
  size_t size() const { return bytes_.size() / width(); }

 private:
  size_t width() const { return (1 + element_.exponent_bits + element_.mantissa_bits) / 8; }
  void encode(size_t i, double exact) {
    const uint64_t bits = bits_of(exact, element_);
    std::memcpy(bytes_.data() + i * width(), &bits, width());
  }
  Element element_;
  std::vector<char> bytes_;
};

std::vector<double> normal(size_t n, unsigned seed, double scale = 1, double shift = 0) {
  std::mt19937 random(seed);
  std::normal_distribution<double> draw(shift, scale);
  std::vector<double> values(n);
  for (double& value : values) value = draw(random);
  return values;
}

using Kernel = KernelFixture;

TEST_F(Kernel, KnowsItsTask) {
  const auto built =
      build(kInclude +
            "PASSNET_KERNEL k(int64_t* out) {\n  using namespace passnet;\n  int64_t* o = out + 8 * task_index();\n"
            "  o[0] = task_index(); o[1] = task_index(0); o[2] = task_index(1); o[3] = task_index(2);\n"
            "  o[4] = task_count(); o[5] = task_count(0); o[6] = task_count(1); o[7] = task_count(2);\n}\n");
  ASSERT_TRUE(built) << to_string(built.error());
  const LoadedKernel kernel(*built);
  for (int64_t part : {1, 4, 5, 100}) {
    std::vector<int64_t> out(8 * 24, -1);
    kernel(arguments(out.data()), {2, 3, 4}, part);
    for (int64_t z = 0; z < 4; ++z)
      for (int64_t y = 0; y < 3; ++y)
        for (int64_t x = 0; x < 2; ++x) {
          const int64_t i = x + 2 * y + 6 * z;
          EXPECT_THAT(std::vector<int64_t>(&out[8 * i], &out[8 * i] + 8), ElementsAre(i, x, y, z, 24, 2, 3, 4));
        }
  }
}

TEST_F(Kernel, ThreadsDoNotSeeEachOthersTasks) {
  const auto built = build(kInclude +
                           "PASSNET_KERNEL k(int64_t* out, int64_t n) {\n  int64_t sum = 0;\n"
                           "  for (int64_t i = 0; i < n; ++i) { __atomic_signal_fence(__ATOMIC_SEQ_CST); sum "
                           "+= passnet::task_index(); }\n"
                           "  out[passnet::task_index()] = sum;\n}\n");
  ASSERT_TRUE(built) << to_string(built.error());
  const LoadedKernel kernel(*built);
  std::vector<int64_t> out(64);
  const auto args = arguments(out.data(), 20000);
  {
    std::vector<std::jthread> threads;
    for (int64_t t = 0; t < 4; ++t) threads.emplace_back([&, t] { kernel.tasks(args, {64}, 16 * t, 16 * t + 16); });
  }
  for (int64_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], 20000 * i);
}

TEST_F(Kernel, ChunksCoverEverythingOnce) {
  const auto built =
      build(kInclude +
            "PASSNET_KERNEL k(int64_t* bounds, int64_t n, int64_t granule) {\n"
            "  const auto [first, last] = passnet::chunk(n, granule);\n"
            "  bounds[2 * passnet::task_index()] = first; bounds[2 * passnet::task_index() + 1] = last;\n}\n");
  ASSERT_TRUE(built) << to_string(built.error());
  const LoadedKernel kernel(*built);
  for (int64_t n : {0, 1, 63, 64, 65, 1000, 12345}) {
    for (int64_t granule : {1, 64}) {
      std::vector<int64_t> bounds(14, -1);
      kernel(arguments(bounds.data(), n, granule), {7});
      EXPECT_EQ(bounds.front(), 0);
      EXPECT_EQ(bounds.back(), n);
      for (int t = 0; t < 7; ++t) {
        EXPECT_LE(bounds[2 * t], bounds[2 * t + 1]);
        EXPECT_TRUE(bounds[2 * t] % granule == 0 || bounds[2 * t] == n);
        EXPECT_TRUE(t == 0 || bounds[2 * t] == bounds[2 * t - 1]);
      }
    }
  }
}

TEST_F(Kernel, UnpacksEveryKindOfArgument) {
  const auto built =
      build(kInclude +
            "PASSNET_KERNEL k(double* out, float f, double d, int64_t n, int32_t i, uint8_t u, bool b) {\n"
            "  out[0] = f; out[1] = d; out[2] = n; out[3] = i; out[4] = u; out[5] = b;\n}\n");
  ASSERT_TRUE(built) << to_string(built.error());
  std::vector<double> out(6);
  LoadedKernel kernel(*built);
  kernel(arguments(out.data(), 0.1, 0.1, int64_t{-5}, -6, 200, true), {1});
  EXPECT_THAT(out, ElementsAre(double{0.1f}, 0.1, -5, -6, 200, 1));
}

/// All 65536 values of a 16-bit type: both directions, vector and scalar.
class Halves : public KernelFixture, public testing::WithParamInterface<Element> {};
INSTANTIATE_TEST_SUITE_P(Kernel, Halves, testing::Values(kHalf, kBrain),
                         [](const auto& i) { return std::string(ir::name(i.param.dtype)); });

TEST_P(Halves, WidenExactlyAndRoundToNearestEven) {
  const std::string body = kInclude +
                           "PASSNET_KERNEL k(const T* x, float* vector_out, float* scalar_out, const float* "
                           "y, T* vector_back, T* scalar_back, int64_t n, int64_t m) {\n"
                           "  passnet::to_floats(x, n, vector_out);\n  for (int64_t i = 0; i < n; ++i) "
                           "scalar_out[i] = passnet::to_float(x[i]);\n"
                           "  passnet::from_floats(y, m, vector_back);\n  for (int64_t i = 0; i < m; ++i) "
                           "scalar_back[i] = passnet::from_float<T>(y[i]);\n}\n";
  const auto built = build(body, "k", {{"T", GetParam().dtype}});
  ASSERT_TRUE(built) << to_string(built.error());
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  std::vector<float> wide(65536), wide_scalar(65536), y;
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 65521)
    y.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (uint32_t i = 0; i + 1 < 65536; ++i) {  // ties, and their neighbours
    const double low = decode(i, GetParam()), high = decode(i + 1, GetParam());
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const auto middle = static_cast<float>((low + high) / 2);
    y.insert(y.end(), {middle, std::nextafter(middle, 1e30f), std::nextafter(middle, -1e30f)});
  }
  std::vector<uint16_t> back(y.size()), back_scalar(y.size());
  LoadedKernel kernel(*built);
  kernel(arguments(all.data(), wide.data(), wide_scalar.data(), y.data(), back.data(), back_scalar.data(), 65536,
                   static_cast<int64_t>(y.size())),
         {1});
  for (uint32_t i = 0; i < 65536; ++i) {
    const double expected = decode(i, GetParam());
    ASSERT_TRUE(expected == wide[i] || (std::isnan(expected) && std::isnan(wide[i]))) << i;
    ASSERT_TRUE(expected == wide_scalar[i] || (std::isnan(expected) && std::isnan(wide_scalar[i]))) << i;
  }
  for (size_t i = 0; i < y.size(); ++i) {
    const double expected = round_to(y[i], GetParam());
    for (uint16_t found : {back[i], back_scalar[i]}) {
      const double value = decode(found, GetParam());
      ASSERT_TRUE(value == expected || (std::isnan(value) && std::isnan(expected)))
          << y[i] << " gives " << value << ", expected " << expected;
    }
  }
}

/// Memory whose last byte is followed by a page that may not be touched.
class Fenced {
 public:
  explicit Fenced(size_t size)
      : size_(size),
        room_((size / 4096 + 1) * 4096),
        base_(static_cast<char*>(
            ::mmap(nullptr, room_ + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    ::mprotect(base_ + room_, 4096, PROT_NONE);
  }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  ~Fenced() { ::munmap(base_, room_ + 4096); }
  char* data() { return base_ + room_ - size_; }
  const char* data() const { return base_ + room_ - size_; }

 private:
  size_t size_, room_;
  char* base_;
};

TEST_F(Kernel, BlocksTouchNothingPastTheEnd) {
  for (const auto& [dtype, size] : std::vector<std::pair<ir::DType, size_t>>{{ir::DType::Float32, 4},
                                                                             {ir::DType::Float64, 8},
                                                                             {ir::DType::Float16, 2},
                                                                             {ir::DType::BFloat16, 2},
                                                                             {ir::DType::Int64, 8},
                                                                             {ir::DType::UInt8, 1},
                                                                             {ir::DType::Bool, 1}}) {
    const auto built = build(kInclude +
                                 "PASSNET_KERNEL k(const T* x, T* out, int64_t n) {\n"
                                 "  passnet::for_blocks(0, n, [&](int64_t i, int lanes) { store(out + i, "
                                 "passnet::load(x + i, lanes), lanes); });\n}\n",
                             "k", {{"T", dtype}});
    ASSERT_TRUE(built) << to_string(built.error());
    const LoadedKernel kernel(*built);
    for (size_t n = 0; n <= 49; ++n) {
      Fenced x(n * size), out(n * size);
      for (size_t i = 0; i < n * size; ++i) x.data()[i] = i % size == size - 1 && size != 8 ? 1 : 0;
      std::memset(out.data(), 0x5a, n * size);
      out.data()[-1] = 0x77;
      kernel(arguments(x.data(), out.data(), static_cast<int64_t>(n)), {1});
      EXPECT_EQ(std::memcmp(x.data(), out.data(), n * size), 0) << ir::name(dtype) << " " << n;
      EXPECT_EQ(out.data()[-1], 0x77);
    }
  }
}

// Of a row of ones, lanes that lie before or behind it get the other number.
TEST_F(Kernel, LanesBesideARowAreNotRead) {
  const auto one = []<class Bits>(Bits bits) { return std::string(reinterpret_cast<const char*>(&bits), sizeof bits); };
  const std::pair<ir::DType, std::string> types[] = {{ir::DType::Float32, one(1.0F)},
                                                     {ir::DType::Float16, one(uint16_t{0x3c00})},
                                                     {ir::DType::BFloat16, one(uint16_t{0x3f80})},
                                                     {ir::DType::UInt8, one(uint8_t{1})}};
  for (const auto& [dtype, bytes] : types) {
    const auto built = build(kInclude +
                                 "PASSNET_KERNEL k(const T* x, float* out, int64_t n, int64_t at, int64_t lanes) {\n"
                                 "  store(out, passnet::load_inside(x + at, at, n, int(lanes), -7.0f));\n}\n",
                             "k", {{"T", dtype}});
    ASSERT_TRUE(built) << to_string(built.error());
    const LoadedKernel kernel(*built);
    for (const int64_t n : {1, 5, 16, 33}) {
      Fenced x(static_cast<size_t>(n) * bytes.size());
      for (int64_t i = 0; i < n; ++i)
        std::memcpy(x.data() + static_cast<size_t>(i) * bytes.size(), bytes.data(), bytes.size());
      for (int64_t at = -18; at < n + 3; ++at) {
        for (int64_t lanes = 1; lanes <= 16; ++lanes) {
          float out[16];
          kernel(arguments(x.data(), out, n, at, lanes), {1});
          for (int64_t lane = 0; lane < lanes; ++lane) {
            const bool inside = at + lane >= 0 && at + lane < n;
            ASSERT_EQ(out[lane], inside ? 1.0F : -7.0F)
                << ir::name(dtype) << " n " << n << " at " << at << " lane " << lane;
          }
        }
      }
    }
  }
}

TEST_F(Kernel, ARowIsPaddedAndNothingBesideItIsRead) {
  const auto built = build(kInclude +
                           "PASSNET_KERNEL k(const float* x, float* out, int64_t extent, int64_t at, int64_t n) {\n"
                           "  passnet::pad_row(x + at, at, extent, n, -7.0f, out);\n}\n");
  ASSERT_TRUE(built) << to_string(built.error());
  const LoadedKernel kernel(*built);
  for (const int64_t extent : {0, 1, 15, 16, 40}) {
    Fenced x(static_cast<size_t>(extent) * sizeof(float));
    for (int64_t i = 0; i < extent; ++i) {
      const auto value = static_cast<float>(i);
      std::memcpy(x.data() + static_cast<size_t>(i) * sizeof value, &value, sizeof value);
    }
    for (const int64_t n : {1, 3, 16, 33, 50}) {
      for (int64_t at = -20; at < extent + 3; ++at) {
        std::vector<float> out(static_cast<size_t>(n) + 1, 99.0F);
        kernel(arguments(x.data(), out.data(), extent, at, n), {1});
        for (int64_t i = 0; i < n; ++i) {
          const bool inside = at + i >= 0 && at + i < extent;
          ASSERT_EQ(out[static_cast<size_t>(i)], inside ? static_cast<float>(at + i) : -7.0F)
              << extent << " at " << at << ", " << i << " of " << n;
        }
        ASSERT_EQ(out[static_cast<size_t>(n)], 99.0F);
      }
    }
  }
}

/// 1, 2, …; of a type of 16 bits its smallest number, times these.
void fill_with_numbers(Fenced& x, ir::DType dtype, size_t count) {
  const auto size = static_cast<size_t>(ir::size_bytes(dtype));
  for (size_t i = 0; i < count; ++i) {
    const int64_t bits =
        dtype == ir::DType::Float32 ? std::bit_cast<int32_t>(static_cast<float>(i + 1)) : static_cast<int64_t>(i + 1);
    std::memcpy(x.data() + i * size, &bits, size);
  }
}

TEST_F(Kernel, EveryOtherElementIsReadUpToTheLast) {
  const std::vector<std::pair<ir::DType, float>> types = {{ir::DType::Float32, 1.0F},
                                                          {ir::DType::Float16, 0x1p-24F},
                                                          {ir::DType::BFloat16, 0x1p-133F},
                                                          {ir::DType::Int64, 1}};
  for (const auto& [step, function] : std::vector<std::pair<size_t, std::string>>{{2, "other"}, {4, "fourth"}}) {
    for (const auto& [dtype, of_one] : types) {
      const auto built = build(fmt::format("{}PASSNET_KERNEL k(const T* x, float* out, int64_t lanes) {{\n"
                                           "  store(out, passnet::load_every_{}(x, int(lanes)));\n}}\n",
                                           kInclude, function),
                               "k", {{"T", dtype}});
      ASSERT_TRUE(built) << to_string(built.error());
      const LoadedKernel kernel(*built);
      for (size_t lanes = 1; lanes <= 16; ++lanes) {
        const size_t count = step * (lanes - 1) + 1;
        Fenced x(count * static_cast<size_t>(ir::size_bytes(dtype)));
        fill_with_numbers(x, dtype, count);
        float out[16];
        kernel(arguments(x.data(), out, static_cast<int64_t>(lanes)), {1});
        for (size_t lane = 0; lane < 16; ++lane)
          ASSERT_EQ(out[lane], lane < lanes ? static_cast<float>(step * lane + 1) * of_one : 0)
              << ir::name(dtype) << " every " << function << ", " << lanes << " lanes, lane " << lane;
      }
    }
  }
}

TEST_F(Kernel, ElementsAreGatheredFromARow) {
  for (const ir::DType dtype : {ir::DType::Float32, ir::DType::Float16}) {
    const auto built =
        build(kInclude +
                  "PASSNET_KERNEL k(const T* x, int32_t* places, float* out, int64_t length, int64_t count) {\n"
                  "  passnet::repeat_last(places, count);\n"
                  "  passnet::for_blocks(0, count, [&](int64_t i, int lanes) {\n"
                  "    passnet::store(out + i, passnet::gather(x, length, places + i, lanes));\n"
                  "  });\n}\n",
              "k", {{"T", dtype}});
    ASSERT_TRUE(built) << to_string(built.error());
    const LoadedKernel kernel(*built);
    const float of_one = dtype == ir::DType::Float32 ? 1.0F : 0x1p-24F;  // float16's smallest number
    for (const int64_t length : {1, 2, 15, 16, 17, 40, 300}) {
      Fenced x(static_cast<size_t>(length * ir::size_bytes(dtype)));
      fill_with_numbers(x, dtype, static_cast<size_t>(length));
      // Up to three for each element, one in three, back from the end, and all over the row.
      const std::vector<std::function<int64_t(int64_t)>> places = {
          [](int64_t i) { return i / 3; }, [](int64_t i) { return 3 * i; },
          [&](int64_t i) { return length - 1 - i / 2; }, [](int64_t i) { return 37 * i; }};
      for (const int64_t count : {0, 1, 7, 16, 31, 50}) {
        for (const auto& place : places) {
          std::vector<int32_t> at(static_cast<size_t>(count) + 15, -1);
          const auto wanted = [&](int64_t i) { return ((place(i) % length) + length) % length; };
          for (int64_t i = 0; i < count; ++i) at[static_cast<size_t>(i)] = static_cast<int32_t>(wanted(i));
          std::vector<float> out(static_cast<size_t>(count) + 16, 99.0F);
          kernel(arguments(x.data(), at.data(), out.data(), length, count), {1});
          const int64_t stored = (count + 15) / 16 * 16;
          for (int64_t i = 0; i < stored; ++i)
            ASSERT_EQ(out[static_cast<size_t>(i)], i < count ? static_cast<float>(wanted(i) + 1) * of_one : 0.0F)
                << length << ", " << i << " of " << count;
        }
      }
    }
  }
}

TEST_F(Kernel, LanesGoInGroups) {
  for (const size_t group : {2, 4, 8, 16}) {
    const auto built =
        build(fmt::format("{}PASSNET_KERNEL k(const float* x, float* repeated, float* turns) {{\n"
                          "  store(repeated, passnet::repeat_lanes<{}>(passnet::load(x)));\n"
                          "  store(turns, passnet::turn_of_lanes<{}>());\n}}\n",
                          kInclude, group, group));
    ASSERT_TRUE(built) << to_string(built.error());
    const LoadedKernel kernel(*built);
    float x[16], repeated[16], turns[16];
    for (size_t i = 0; i < 16; ++i) x[i] = static_cast<float>(i) + 0.5F;
    kernel(arguments(x, repeated, turns), {1});
    for (size_t lane = 0; lane < 16; ++lane) {
      EXPECT_EQ(repeated[lane], x[lane / group]) << group << ", lane " << lane;
      EXPECT_EQ(turns[lane], static_cast<float>(lane % group)) << group << ", lane " << lane;
    }
  }
}

TEST_F(Kernel, RowsBesideEachOtherAreTurned) {
  for (const char* from : {"x, step", "[=](int64_t i) { return x + i * step; }"}) {
    const auto built = build(
        fmt::format("{}PASSNET_KERNEL k(const float* x, float* out, int64_t step, int64_t width, int64_t rows) {{\n"
                    "  passnet::turn_tile({}, width, rows, out);\n}}\n",
                    kInclude, from));
    ASSERT_TRUE(built) << to_string(built.error());
    const LoadedKernel kernel(*built);
    for (const size_t rows : {1, 15, 16, 17, 32}) {
      for (const size_t width : {1, 7, 16, 30, 32}) {
        const size_t step = rows + 3;
        Fenced x(((width - 1) * step + rows) * sizeof(float));
        for (size_t i = 0; i < width; ++i) {
          for (size_t row = 0; row < rows; ++row) {
            const auto value = static_cast<float>(100 * row + i);
            std::memcpy(x.data() + (i * step + row) * sizeof value, &value, sizeof value);
          }
        }
        std::vector<float> out(rows * width + 1, -1.0F);
        kernel(arguments(x.data(), out.data(), static_cast<int64_t>(step), static_cast<int64_t>(width),
                         static_cast<int64_t>(rows)),
               {1});
        for (size_t i = 0; i < rows * width; ++i)
          ASSERT_EQ(out[i], static_cast<float>(100 * (i / width) + i % width)) << rows << " rows of " << width;
        ASSERT_EQ(out.back(), -1.0F);
      }
    }
  }
}

TEST_F(Kernel, AVectorOfANumberHasItsSign) {
  const auto built = build(kInclude + "PASSNET_KERNEL k(float x, float* out) { store(out, passnet::vec(x)); }\n");
  ASSERT_TRUE(built) << to_string(built.error());
  float out[16];
  const LoadedKernel kernel(*built);
  kernel(arguments(-0.0F, out), {1});
  EXPECT_TRUE(std::signbit(out[0]) && std::signbit(out[15]));
}

// Planes that lie apart, with a border, and back as they were.
TEST_F(Kernel, PlanesAreTurnedAndTurnedBack) {
  const auto built = build(
      kInclude +
      "using namespace passnet;\n"
      "PASSNET_KERNEL k(const float16* x, float* padded, float16* back, int64_t step, int64_t rows, int64_t columns, "
      "int64_t top, int64_t left, int64_t height, int64_t width, int64_t lanes) {\n"
      "  float planes[16 * 64];\n"
      "  pad_planes(x + top * columns + left, step, rows, columns, top, left, height, width, -1.0f, int(lanes), "
      "planes, padded);\n"
      "  store_planes(back, step, rows * columns, int(lanes), planes);\n}\n");
  ASSERT_TRUE(built) << to_string(built.error());
  const LoadedKernel kernel(*built);
  struct Case {
    int64_t rows, columns, top, left, height, width, lanes;
  };
  for (const auto& [rows, columns, top, left, height, width, lanes] : std::vector<Case>{{7, 7, -1, -1, 9, 9, 16},
                                                                                        {8, 8, -2, 0, 10, 7, 16},
                                                                                        {3, 5, 1, -3, 4, 4, 7},
                                                                                        {1, 1, -1, -1, 3, 3, 1},
                                                                                        {4, 16, 5, 2, 3, 9, 16}}) {
    const int64_t n = rows * columns, step = n + 3, all = (lanes - 1) * step + n, places = height * width;
    Fenced x(static_cast<size_t>(all) * 2), back(static_cast<size_t>(all) * 2),
        padded(static_cast<size_t>(places * lanes) * 4);
    std::memset(back.data(), 0, static_cast<size_t>(all) * 2);
    // Halves of 1024 and more are their numbers.
    const auto half = [](int64_t number) { return static_cast<uint16_t>(0x6400 + number % 1024); };
    for (int64_t i = 0; i < all; ++i) {
      const uint16_t bits = half(i);
      std::memcpy(x.data() + i * 2, &bits, 2);
    }
    kernel(arguments(x.data(), padded.data(), back.data(), step, rows, columns, top, left, height, width, lanes), {1});
    for (int64_t lane = 0; lane < lanes; ++lane) {
      for (int64_t i = 0; i < n; ++i) {
        uint16_t bits;
        std::memcpy(&bits, back.data() + (lane * step + i) * 2, 2);
        ASSERT_EQ(bits, half(lane * step + i)) << rows << " x " << columns << ", " << lane;
      }
      for (int64_t place = 0; place < places; ++place) {
        const int64_t row = place / width + top, column = place % width + left;
        const bool inside = row >= 0 && row < rows && column >= 0 && column < columns;
        float number;
        std::memcpy(&number, padded.data() + (place * lanes + lane) * 4, 4);
        ASSERT_EQ(number, inside ? static_cast<float>(1024 + (lane * step + row * columns + column) % 1024) : -1.0F)
            << rows << " x " << columns << ", " << lane << ", " << place;
      }
    }
  }
}

// left: rows x depth, or turned; right: runs of columns for each step, or columns x depth. One result after the other. Most
// lines are the kernel.
TEST_F(Kernel, ProductsInTilesAreSums) {
  const auto built = build(
      kInclude +
      "using namespace passnet;\n"
      "PASSNET_KERNEL k(const float* left, const float* right, float* out, int64_t rows, int64_t runs, int64_t width, "
      "int64_t depth) {\n"
      "  const auto of_rows = in_memory<Neighbours::AlongDepth>([&](int64_t row, int64_t k) { return left + row * "
      "depth + k; });\n"
      "  const auto of_turned = in_memory<Neighbours::AcrossDepth>([&](int64_t row, int64_t k) { return left + k * "
      "rows + row; });\n"
      "  const auto of_columns = in_memory<Neighbours::AlongDepth>([&](int64_t column, int64_t k) { return right + "
      "column * depth + k; });\n"
      "  const auto of_runs = computed([&](int64_t run, int64_t i, int lanes, int64_t k) { return load(right + (run * "
      "depth + k) * width + i, lanes); });\n"
      "  const auto write = [&](float* to) { return [=](int64_t row, int64_t run, int64_t i, int lanes, vec sums) {\n"
      "    store(to + (row * runs + run) * width + i, sums, lanes); }; };\n"
      "  const auto all = [&](const ProductTiles& tiles, auto product) {\n"
      "    const auto [first, last] = chunk(tiles.count(), 1);\n"
      "    for (int64_t next = first; next < last; ++next) product(tiles[next]);\n"
      "  };\n"
      "  all(product_tiles(1, rows, runs * width, depth), [&](const ProductTile& tile) {\n"
      "    product_tile(tile, width, depth, of_rows, of_columns, write(out)); });\n"
      "  all(product_tiles(1, rows, runs * width), [&](const ProductTile& tile) {\n"
      "    product_tile(tile, width, depth, of_turned, of_runs, write(out + rows * runs * width)); });\n}\n");
  ASSERT_TRUE(built) << to_string(built.error());
  LoadedKernel kernel(*built);
  struct Extents {
    int64_t rows, runs, width, depth;
  };
  for (const auto& [rows, runs, width, depth] : std::vector<Extents>{{1, 1, 1, 1},
                                                                     {13, 2, 7, 5},
                                                                     {5, 3, 16, 0},
                                                                     {12, 1, 32, 128},
                                                                     {201, 3, 49, 17},
                                                                     {50, 5, 61, 129},
                                                                     {1, 1, 37, 100},
                                                                     {6, 3, 11, 2065},
                                                                     {32, 1, 130, 256},
                                                                     {203, 1, 7, 1100},
                                                                     {50, 2, 1, 16},
                                                                     {193, 1, 130, 300}}) {
    Fenced left(static_cast<size_t>(rows * depth) * 4), right(static_cast<size_t>(runs * width * depth) * 4),
        out(static_cast<size_t>(2 * rows * runs * width) * 4);
    // Small numbers, whose sums are exact.
    const auto fill = [](Fenced& one, int64_t count, int64_t by) {
      for (int64_t i = 0; i < count; ++i) {
        const auto number = static_cast<float>(i * by % 7 - 3);
        std::memcpy(one.data() + i * 4, &number, 4);
      }
    };
    fill(left, rows * depth, 5);
    fill(right, runs * width * depth, 3);
    const auto at = [](const Fenced& one, int64_t i) {
      float number;
      std::memcpy(&number, one.data() + i * 4, 4);
      return number;
    };
    for (const bool unit : {false, true}) {
      kernel.use_matrix_unit(unit);
      std::memset(out.data(), 0xff, static_cast<size_t>(2 * rows * runs * width) * 4);
      kernel(arguments(left.data(), right.data(), out.data(), rows, runs, width, depth), {3});
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t column = 0; column < runs * width; ++column) {
          float sum = 0, turned = 0;
          for (int64_t k = 0; k < depth; ++k) {
            sum += at(left, row * depth + k) * at(right, column * depth + k);
            turned += at(left, k * rows + row) * at(right, (column / width * depth + k) * width + column % width);
          }
          const int64_t place = row * runs * width + column;
          ASSERT_EQ(at(out, place), sum) << rows << " x " << runs << " x " << width << ", " << depth;
          ASSERT_EQ(at(out, rows * runs * width + place), turned)
              << rows << " x " << runs << " x " << width << ", " << depth;
        }
      }
    }
  }
}

class Fused : public KernelFixture, public testing::WithParamInterface<Element> {};
INSTANTIATE_TEST_SUITE_P(Kernel, Fused,
                         testing::ValuesIn(full_tier() ? std::vector{kFloat, kHalf, kBrain}
                                                       : std::vector{kFloat, kBrain}),
                         [](const auto& i) { return std::string(ir::name(i.param.dtype)); });

/// Each result as operands lie or are computed: rows of `left` and columns of `right` lie along depth; the same turned; and both
/// computed. Most lines are the kernel.
TEST_P(Fused, ProductsInTilesAreNearExactSums) {
  const Element element = GetParam();
  if (element == kFloat && !full_tier()) GTEST_SKIP() << "PASSNET_FULL=1 runs it";
  const auto built = build(
      kInclude +
          "using namespace passnet;\n"
          "PASSNET_KERNEL k(const T* left, const T* right, const T* left_turned, const T* right_turned, float* out, "
          "int64_t rows, int64_t columns, int64_t depth) {\n"
          "  const auto write = [&](int64_t which) { return [=](int64_t row, int64_t, int64_t i, int lanes, vec sums) "
          "{\n"
          "    store(out + (which * rows + row) * columns + i, sums, lanes); }; };\n"
          "  const ProductTiles tiles = product_tiles(1, rows, columns);\n"
          "  const auto [first, last] = chunk(tiles.count(), 1);\n"
          "  for (int64_t next = first; next < last; ++next) {\n"
          "    const ProductTile tile = tiles[next];\n"
          "    product_tile(tile, columns, depth,\n"
          "      in_memory<Neighbours::AlongDepth>([&](int64_t row, int64_t k) { return left + row * depth + k; }),\n"
          "      in_memory<Neighbours::AlongDepth>([&](int64_t column, int64_t k) { return right + column * depth + k; "
          "}), write(0));\n"
          "    const auto of_columns = computed<T>([&](int64_t, int64_t i, int lanes, int64_t k) {\n"
          "      return load(right_turned + k * columns + i, lanes); });\n"
          "    product_tile(tile, columns, depth,\n"
          "      in_memory<Neighbours::AcrossDepth>([&](int64_t row, int64_t k) { return left_turned + k * rows + row; "
          "}), of_columns, write(1));\n"
          "    product_tile(tile, columns, depth,\n"
          "      computed<T>([&](int64_t row, int64_t k) { return to_float(left[row * depth + k]); }), of_columns, "
          "write(2));\n  }\n}\n",
      "k", {{"T", element.dtype}});
  ASSERT_TRUE(built) << to_string(built.error());
  LoadedKernel kernel(*built);
  struct Case {
    size_t rows, columns, depth;
    double put_left, put_right;  // into row 1 and column 1
  };
  const double tiny = element == kHalf ? 0x1p-24 : 0x1p-126;
  for (const auto& [rows, columns, depth, put_left, put_right] :
       std::vector<Case>{{3, 7, 45, 0.5, 0.25},
                         {19, 300, 70, -0.0, 1},
                         {270, 33, 161, 1, HUGE_VAL},
                         {17, 18, 33, std::nan(""), 1},
                         {17, 18, 130, HUGE_VAL, 0},
                         {256, 257, 40, 1, HUGE_VAL},
                         {40, 50, 600, tiny, element == kHalf ? 0x1p15 : 0x1p126}}) {
    std::vector<double> of_rows = normal(rows * depth, 1), of_columns = normal(columns * depth, 2);
    of_rows[depth + depth - 1] = put_left;
    of_columns[depth + depth - 1] = put_right;
    const auto turned = [&](const std::vector<double>& x, size_t sides) {
      std::vector<double> out(x.size());
      for (size_t i = 0; i < x.size(); ++i) out[i % depth * sides + i / depth] = x[i];
      return out;
    };
    Tensor left(element, of_rows), right(element, of_columns), left_turned(element, turned(of_rows, rows)),
        right_turned(element, turned(of_columns, columns));
    std::vector<double> sums(rows * columns), sizes(rows * columns);  // of the products, and of their absolute values
    for (size_t i = 0; i < sums.size(); ++i) {
      for (size_t k = 0; k < depth; ++k) {
        const double product = left[i / columns * depth + k] * right[i % columns * depth + k];
        sums[i] += product;
        sizes[i] += std::fabs(product);
      }
    }
    std::vector<float> out(3 * rows * columns);
    for (const bool unit : {false, true}) {
      kernel.use_matrix_unit(unit);
      kernel(arguments(left.data(), right.data(), left_turned.data(), right_turned.data(), out.data(),
                       static_cast<int64_t>(rows), static_cast<int64_t>(columns), static_cast<int64_t>(depth)),
             {2});
      for (size_t i = 0; i < out.size(); ++i) {
        const size_t row = i / columns % rows, column = i % columns;
        const double sum = sums[row * columns + column];
        if (std::isfinite(sum))
          ASSERT_NEAR(out[i], sum, 1e-6 * sizes[row * columns + column])
              << row << ", " << column << " of " << i / (rows * columns) << ", unit " << unit;
        else
          ASSERT_TRUE(std::isnan(sum) ? std::isnan(out[i]) : out[i] == static_cast<float>(sum))
              << out[i] << " for " << sum << " at " << row << ", " << column << ", unit " << unit;
      }
    }
  }
}

TEST_P(Fused, AddRelu) {
  const Element element = GetParam();
  const auto built = build(kInclude +
                               "PASSNET_KERNEL k(const T* x, const T* y, T* out, int64_t n) {\n  const auto "
                               "[first, last] = passnet::chunk(n);\n"
                               "  passnet::for_blocks(first, last, [&](int64_t i, int lanes) {\n"
                               "    store(out + i, relu(passnet::load(x + i, lanes) + passnet::load(y + i, "
                               "lanes)), lanes);\n  });\n}\n",
                           "k", {{"T", element.dtype}});
  ASSERT_TRUE(built) << to_string(built.error());
  const LoadedKernel kernel(*built);
  for (size_t n : {1, 5, 320, 3855}) {
    std::vector<double> values = normal(n, 1);
    values[0] = std::nan("");
    Tensor x(element, values), y(element, normal(n, 2)), out(element, std::vector<double>(n, 7));
    kernel(arguments(x.data(), y.data(), out.data(), static_cast<int64_t>(n)), {3}, 2);
    EXPECT_TRUE(std::isnan(out[0]));
    for (size_t i = 1; i < n; ++i)
      ASSERT_EQ(out[i], round_to(std::max(0.0, round_to(x[i] + y[i], kFloat)), element)) << i;
  }
}

TEST_P(Fused, LayerNorm) {
  const Element element = GetParam();
  for (int64_t columns : {1, 7, 257, 768}) {
    const auto built =
        build(kInclude +
                  "PASSNET_KERNEL k(const T* x, const T* weight, const T* bias, T* out, float eps) {\n"
                  "  x += passnet::task_index() * COLUMNS;\n  out += passnet::task_index() * COLUMNS;\n"
                  "  const auto [mean, variance] = passnet::moments(x, COLUMNS);\n  const float scale = "
                  "passnet::rsqrt(variance + eps);\n"
                  "  passnet::for_blocks(0, COLUMNS, [&](int64_t i, int lanes) {\n    using namespace passnet;\n"
                  "    store(out + i, fma((load(x + i, lanes) - mean) * scale, load(weight + i, lanes), load(bias "
                  "+ i, lanes)), lanes);\n  });\n}\n",
              "k", {{"COLUMNS", columns}, {"T", element.dtype}});
    ASSERT_TRUE(built) << to_string(built.error());
    const auto width = static_cast<size_t>(columns);
    Tensor x(element, normal(4 * width, 1, 2, 10)), weight(element, normal(width, 2)), bias(element, normal(width, 3)),
        out(element, std::vector<double>(4 * width));
    LoadedKernel kernel(*built);
    kernel(arguments(x.data(), weight.data(), bias.data(), out.data(), 1e-5), {4}, 3);
    const double ulp = std::ldexp(1.0, -element.mantissa_bits - 1);
    for (size_t row = 0; row < 4; ++row) {
      double mean = 0, variance = 0;
      for (size_t i = 0; i < width; ++i) mean += x[row * width + i] / static_cast<double>(width);
      for (size_t i = 0; i < width; ++i)
        variance += std::pow(x[row * width + i] - mean, 2) / static_cast<double>(width);
      for (size_t i = 0; i < width; ++i) {
        const double expected = (x[row * width + i] - mean) / std::sqrt(variance + 1e-5) * weight[i] + bias[i];
        // One rounding to the type, and what the float sums lose.
        ASSERT_NEAR(out[row * width + i], expected, ulp * std::fabs(expected) + 2e-5) << row << " " << i;
      }
    }
  }
}

TEST_F(Kernel, ReductionsOfRows) {
  const auto built =
      build(kInclude +
            "PASSNET_KERNEL k(const float* x, int64_t n, float* out) {\n  out[0] = passnet::sum(x, n);\n  out[1] = "
            "passnet::max(x, n);\n"
            "  const auto [mean, variance] = passnet::moments(x, n);\n  out[2] = mean;\n  out[3] = variance;\n}\n");
  ASSERT_TRUE(built) << to_string(built.error());
  const LoadedKernel kernel(*built);
  for (int64_t n = 1; n < 200; ++n) {
    std::vector<float> x;
    for (double value : normal(static_cast<size_t>(n), static_cast<unsigned>(n), 1, 1000))
      x.push_back(static_cast<float>(value));
    double sum = 0, largest = -HUGE_VAL, squares = 0;
    for (float v : x) sum += v, largest = std::max<double>(largest, v);
    for (float v : x) squares += (v - sum / static_cast<double>(n)) * (v - sum / static_cast<double>(n));
    float out[4];
    kernel(arguments(x.data(), n, static_cast<void*>(out)), {1});
    EXPECT_NEAR(out[0], sum, sum * 1e-6);
    EXPECT_EQ(out[1], largest);
    EXPECT_NEAR(out[2], sum / static_cast<double>(n), 1e-3);
    EXPECT_NEAR(out[3], squares / static_cast<double>(n), 1e-3);
  }
  std::vector<float> x(100, -3.0f);
  float out[4];
  kernel(arguments(x.data(), 0, static_cast<void*>(out)), {1});
  EXPECT_EQ(out[0], 0.0f);
  EXPECT_EQ(out[1], -HUGE_VALF);
  x[77] = std::nanf("");
  kernel(arguments(x.data(), 100, static_cast<void*>(out)), {1});
  EXPECT_TRUE(std::isnan(out[1]));
}

}  // namespace
}  // namespace passnet::pass
