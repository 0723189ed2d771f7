// Products of matrices, convolutions and pools, one item of the result after the other.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "author/writer.h"

namespace passnet::author {

using ir::ArgKind;
using ir::NodeId;

Result<bool> Writer::product_node(NodeId id, const Call& call, std::string_view name) {
  if (name == "conv2d") return done(convolution(id, call));
  if (name == "max_pool2d" || name == "avg_pool2d") return done(pool(id, call, name));
  if (name == "adaptive_avg_pool2d" || name == "adaptive_avg_pool1d") return done(adaptive_pool(id, call));
  if (name == "linear") {
    PASSNET_TRY(const Value x, tensor(argument(call, "input")));
    PASSNET_TRY(const Value weight, tensor(argument(call, "weight")));
    if (x.rank() < 1 || weight.rank() != 2) return unsupported("linear of other ranks");
    return done(matrix_product(id, x, weight, true, optional_tensor(argument(call, "bias"))));
  }
  if (name == "matmul" || name == "mm" || name == "bmm") {
    PASSNET_TRY(const Value a, tensor(argument(call, "input")));
    PASSNET_TRY(const Value b, tensor(argument(call, name == "matmul" ? "other" : "mat2")));
    return done(matrix_product(id, a, b, false, std::nullopt));
  }
  if (name == "addmm" && is_default(call, "alpha", "1") && is_default(call, "beta", "1")) {
    PASSNET_TRY(const Value a, tensor(argument(call, "mat1")));
    PASSNET_TRY(const Value b, tensor(argument(call, "mat2")));
    PASSNET_TRY(const Value bias, tensor(argument(call, "input")));
    return done(matrix_product(id, a, b, false, bias));
  }
  return false;
}

// a[batch, row, k] b[batch, k, column], or b[column, k] when transposed. A matrix b serves all rows of a.
Result<void> Writer::matrix_product(NodeId id, Value a, Value b, bool transposed, const std::optional<Value>& bias) {
  PASSNET_TRY(Value result, new_value(id));
  if (a.rank() < 1 || b.rank() < 2 || (a.rank() < 2 && !transposed)) return unsupported("a product with a vector");
  if (a.type != b.type || a.type != result.type) return unsupported("a product of different dtypes");
  if (bias && (bias->rank() != 1 || !bias->flat)) return unsupported("a bias that is no contiguous vector");
  if (bias) stored(*bias);
  const std::string_view compute = types_[a.type].compute;
  if (compute == "bool") return unsupported("a product of bools");
  if (b.rank() > 2 && (a.rank() != b.rank())) return unsupported("a product whose batches are broadcast");
  for (size_t i = 0; b.rank() > 2 && i < a.shapes.size(); ++i) {
    if (!std::equal(a.shapes[i].begin(), a.shapes[i].end() - 2, b.shapes[i].begin(), b.shapes[i].end() - 2))
      return unsupported("a product whose batches are broadcast");
  }
  const Value left = flat(a), right = flat(b);
  if (right.rank() > 2)
    require(fmt::format("{}.shape[:{}] == {}.shape[:{}]", left.name, left.rank() - 2, right.name, right.rank() - 2));
  Kernel kernel;
  kernel.name = fmt::format("{}_{}", name_, result.name);
  kernel.comment = fmt::format("{} times {}, one item after the other.", left.name, right.name);
  kernel.parameters = {parameter(left, false), parameter(right, false), "int64_t m", "int64_t width", "int64_t length"};
  const std::string columns = fmt::format("{}.shape[{}]", right.name, transposed ? 0 : right.rank() - 1);
  const std::string length = fmt::format("{}.shape[{}]", left.name, left.rank() - 1);
  const bool batched = right.rank() > 2;
  const std::string rows = batched ? fmt::format("{}.shape[{}]", left.name, left.rank() - 2)
                                   : fmt::format("math.prod({}.shape[:{}])", left.name, left.rank() - 1);
  kernel.arguments = {left.name, right.name, rows, columns, length};
  if (bias) require(fmt::format("{}.shape[0] == {}", bias->name, columns));
  kernel.items = fmt::format("math.prod({}.shape[:{}]) * {}", left.name, left.rank() - 1, columns);
  kernel.work = length;
  const std::string_view sum = compute == "int64_t" ? "int64_t" : "double";
  kernel.body = "const int64_t column = i % width, row = i / width;\n";
  kernel.body += batched ? "const int64_t batch = row / m * length * width;\n" : "";
  kernel.body += fmt::format("{} total = {};\n", sum, bias ? load(*bias, "column") : "0");
  kernel.body += fmt::format("for (int64_t k = 0; k < length; ++k) total += static_cast<{}>({}) * {};\n", sum,
                             load(left, "row * length + k"),
                             load(right, transposed ? "column * length + k"
                                         : batched  ? "batch + k * width + column"
                                                    : "k * width + column"));
  kernel.body += fmt::format("{}_out[i] = {};\n", result.name, convert(result.type, "total", sum));
  kernel.compute = "double";
  if (!batched) {  // rows are counted over all dimensions but the last
    kernel.parameters.erase(kernel.parameters.begin() + 2);
    kernel.arguments.erase(kernel.arguments.begin() + 2);
  }
  if (bias) {
    kernel.parameters.push_back(parameter(*bias, false));
    kernel.arguments.push_back(bias->name);
  }
  const std::string shape = fmt::format("{}.shape[:{}] + ({},)", left.name, left.rank() - 1, columns);
  add_kernel(std::move(kernel), {&result}, std::span(&shape, 1));
  values_[id] = result;
  return {};
}

namespace {

/// Sizes of a result along one dimension of a sliding window, as text of a plan.
std::string positions(const std::string& size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  return fmt::format("(({} + {}) // {} + 1)", size, 2 * padding - dilation * (kernel - 1) - 1, stride);
}

}  // namespace

Result<void> Writer::convolution(NodeId id, const Call& call) {
  PASSNET_TRY(const Value given, tensor(argument(call, "input")));
  PASSNET_TRY(const Value filter, tensor(argument(call, "weight")));
  PASSNET_TRY(Value result, new_value(id));
  if (given.rank() != 4 || types_[given.type].compute != "float")
    return unsupported("conv2d without a batch, or of another type than float");
  PASSNET_TRY(const std::vector<int64_t> stride, integers(call, "stride"));
  PASSNET_TRY(const std::vector<int64_t> padding, integers(call, "padding"));
  PASSNET_TRY(const std::vector<int64_t> dilation, integers(call, "dilation"));
  PASSNET_TRY(const int64_t groups, integer(call, "groups"));
  if (stride.size() != 2 || padding.size() != 2 || dilation.size() != 2)
    return unsupported("conv2d with a padding by name");
  for (const auto& shape : filter.shapes) {
    if (shape != filter.shapes[0]) return unsupported("filters of different shapes");
  }
  const int64_t high = filter.shapes[0][2], wide = filter.shapes[0][3];
  const Value x = flat(given), weight = flat(filter);
  require(fmt::format("{}.shape[2:] == ({}, {})", weight.name, high, wide));
  const std::string rows = positions(x.name + ".shape[2]", high, stride[0], padding[0], dilation[0]);
  const std::string columns = positions(x.name + ".shape[3]", wide, stride[1], padding[1], dilation[1]);
  Kernel kernel;
  kernel.name = fmt::format("{}_{}", name_, result.name);
  kernel.comment = fmt::format("{} filtered by {}, one item after the other.", x.name, weight.name);
  kernel.parameters = {parameter(x, false), parameter(weight, false), "int64_t height", "int64_t width",
                       "int64_t channels",  "int64_t count",          "int64_t rows",   "int64_t columns"};
  kernel.arguments = {x.name,
                      weight.name,
                      x.name + ".shape[2]",
                      x.name + ".shape[3]",
                      weight.name + ".shape[1]",
                      weight.name + ".shape[0]",
                      rows,
                      columns};
  std::string start = "0";
  if (const std::optional<Value> bias = optional_tensor(argument(call, "bias"))) {
    const Value dense = flat(*bias);
    kernel.parameters.push_back(parameter(dense, false));
    kernel.arguments.push_back(dense.name);
    start = load(dense, "c");
  }
  kernel.items = fmt::format("{0}.shape[0] * {1}.shape[0] * {2} * {3}", x.name, weight.name, rows, columns);
  kernel.work = fmt::format("math.prod({}.shape[1:])", weight.name);
  kernel.body =
      "const int64_t column = i % columns, row = i / columns % rows, c = i / columns / rows % count, batch = i / "
      "columns / rows / count;\n";
  kernel.body +=
      fmt::format("const int64_t first_channel = batch * channels * {0} + c / (count / {0}) * channels;\n", groups);
  kernel.body +=
      fmt::format("double total = {};\nfor (int64_t k = 0; k < channels * {}; ++k) {{\n", start, high * wide);
  kernel.body +=
      fmt::format("  const int64_t y = row * {} - {} + k / {} % {} * {}, z = column * {} - {} + k % {} * {};\n",
                  stride[0], padding[0], wide, high, dilation[0], stride[1], padding[1], wide, dilation[1]);
  kernel.body += "  if (y < 0 || y >= height || z < 0 || z >= width) continue;\n";
  kernel.body += fmt::format("  total += static_cast<double>({}) * {};\n}}\n",
                             load(x, fmt::format("((first_channel + k / {}) * height + y) * width + z", high * wide)),
                             load(weight, fmt::format("c * channels * {} + k", high * wide)));
  kernel.body += fmt::format("{}_out[i] = {};\n", result.name, convert(result.type, "total", "double"));
  kernel.compute = "double";
  const std::string shape = fmt::format("({}.shape[0], {}.shape[0], {}, {})", x.name, weight.name, rows, columns);
  add_kernel(std::move(kernel), {&result}, std::span(&shape, 1));
  values_[id] = result;
  return {};
}

Result<void> Writer::pool(NodeId id, const Call& call, std::string_view name) {
  PASSNET_TRY(const Value given, tensor(argument(call, "input")));
  PASSNET_TRY(Value result, new_value(id));
  const bool largest = name == "max_pool2d";
  if (given.rank() < 3 || types_[given.type].compute != "float")
    return unsupported(fmt::format("{} of another type or rank", name));
  PASSNET_TRY(const std::vector<int64_t> window, integers(call, "kernel_size"));
  std::vector<int64_t> stride = window, dilation = {1, 1};
  if (this->given(call, "stride")) {
    PASSNET_TRY(stride, integers(call, "stride"));
  }
  if (stride.empty()) stride = window;
  PASSNET_TRY(const std::vector<int64_t> padding, integers(call, "padding"));
  PASSNET_TRY(const bool ceiling, flag(call, "ceil_mode"));
  bool padded_count = true;
  if (largest) {
    PASSNET_TRY(dilation, integers(call, "dilation"));
    if (!is_default(call, "return_indices", "False")) return unsupported("a pool that gives indices");
  } else {
    PASSNET_TRY(padded_count, flag(call, "count_include_pad"));
    if (this->given(call, "divisor_override")) return unsupported("a pool with a divisor of its own");
  }
  if (ceiling || window.size() != 2 || stride.size() != 2 || padding.size() != 2 || dilation.size() != 2)
    return unsupported("a pool that ends in a part of a window");
  const Value x = flat(given);
  const int64_t r = x.rank();
  const std::string high = fmt::format("{}.shape[{}]", x.name, r - 2),
                    wide = fmt::format("{}.shape[{}]", x.name, r - 1);
  const std::string rows = positions(high, window[0], stride[0], padding[0], dilation[0]);
  const std::string columns = positions(wide, window[1], stride[1], padding[1], dilation[1]);
  Kernel kernel;
  kernel.name = fmt::format("{}_{}", name_, result.name);
  kernel.comment = fmt::format("{} of {}, one item after the other.", name, x.name);
  kernel.parameters = {parameter(x, false), "int64_t height", "int64_t width", "int64_t rows", "int64_t columns"};
  kernel.arguments = {x.name, high, wide, rows, columns};
  kernel.items = fmt::format("math.prod({}.shape[:{}]) * {} * {}", x.name, r - 2, rows, columns);
  kernel.work = fmt::format("{}", window[0] * window[1]);
  kernel.body =
      "const int64_t column = i % columns, row = i / columns % rows, at = i / columns / rows * height * width;\n";
  kernel.body += largest ? "float best = -@inf;\n" : "double total = 0;\nint64_t found = 0;\n";
  kernel.body += fmt::format("for (int64_t k = 0; k < {}; ++k) {{\n", window[0] * window[1]);
  kernel.body +=
      fmt::format("  const int64_t y = row * {} - {} + k / {} * {}, z = column * {} - {} + k % {} * {};\n", stride[0],
                  padding[0], window[1], dilation[0], stride[1], padding[1], window[1], dilation[1]);
  kernel.body += "  if (y < 0 || y >= height || z < 0 || z >= width) continue;\n";
  const std::string element = load(x, "at + y * width + z");
  kernel.body +=
      largest ? fmt::format(
                    "  const float element = {};\n  if (element > best || element != element) best = element;\n}}\n",
                    element)
              : fmt::format("  total += {};\n  ++found;\n}}\n", element);
  const std::string mean =
      padded_count ? fmt::format("total / {}", window[0] * window[1]) : "total / static_cast<double>(found)";
  kernel.body += fmt::format("{}_out[i] = {};\n", result.name,
                             convert(result.type, largest ? "best" : mean, largest ? "float" : "double"));
  kernel.compute = "double";
  const std::string shape = fmt::format("{}.shape[:{}] + ({}, {})", x.name, r - 2, rows, columns);
  add_kernel(std::move(kernel), {&result}, std::span(&shape, 1));
  values_[id] = result;
  return {};
}

// Window `o` of `count` over `size` elements goes from o * size / count to (o + 1) * size / count rounded up.
Result<void> Writer::adaptive_pool(NodeId id, const Call& call) {
  PASSNET_TRY(const Value given, tensor(argument(call, "input")));
  PASSNET_TRY(Value result, new_value(id));
  PASSNET_TRY(std::vector<int64_t> size, integers(call, "output_size"));
  if (types_[given.type].compute != "float") return unsupported("a pool of another type than float");
  const Value x = flat(given);
  const int64_t r = x.rank();
  const bool plane = size.size() == 2;
  if (r < (plane ? 3 : 2)) return unsupported("a pool of too few dimensions");
  if (!plane) size.insert(size.begin(), 1);
  const int64_t outer = r - (plane ? 2 : 1);
  Kernel kernel;
  kernel.name = fmt::format("{}_{}", name_, result.name);
  kernel.comment = fmt::format("means of {}, one item after the other.", x.name);
  kernel.parameters = {parameter(x, false), "int64_t height", "int64_t width"};
  kernel.arguments = {x.name, plane ? fmt::format("{}.shape[{}]", x.name, r - 2) : "1",
                      fmt::format("{}.shape[{}]", x.name, r - 1)};
  kernel.items = fmt::format("math.prod({}.shape[:{}]) * {}", x.name, outer, size[0] * size[1]);
  kernel.work = fmt::format("math.prod({}.shape[{}:])", x.name, outer);
  kernel.body = fmt::format("const int64_t column = i % {1}, row = i / {1} % {0}, at = i / {2} * height * width;\n",
                            size[0], size[1], size[0] * size[1]);
  kernel.body +=
      fmt::format("const int64_t top = row * height / {0}, bottom = ((row + 1) * height + {0} - 1) / {0};\n", size[0]);
  kernel.body += fmt::format(
      "const int64_t left = column * width / {0}, right = ((column + 1) * width + {0} - 1) / {0};\n", size[1]);
  kernel.body +=
      "double total = 0;\nfor (int64_t y = top; y < bottom; ++y) {\n  for (int64_t z = left; z < right; ++z) ";
  kernel.body += fmt::format("total += {};\n}}\n", load(x, "at + y * width + z"));
  kernel.body +=
      fmt::format("{}_out[i] = {};\n", result.name,
                  convert(result.type, "total / static_cast<double>((bottom - top) * (right - left))", "double"));
  kernel.compute = "double";
  const std::string shape = fmt::format("{}.shape[:{}] + ({})", x.name, outer,
                                        plane ? fmt::format("{}, {}", size[0], size[1]) : fmt::format("{},", size[1]));
  add_kernel(std::move(kernel), {&result}, std::span(&shape, 1));
  values_[id] = result;
  return {};
}

}  // namespace passnet::author
