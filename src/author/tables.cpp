// Operators that move elements: tables looked up, tensors joined, rolled, flipped and padded.
#include <fmt/format.h>

#include <algorithm>

#include "author/writer.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

Result<bool> Writer::table_node(NodeId id, const Call& call, std::string_view name) {
  if (name == "embedding") {
    if (given(call, "max_norm")) return unsupported("embedding with 'max_norm' changes its table");
    PASSNET_TRY(const Value index, tensor(argument(call, "input")));
    PASSNET_TRY(const Value table, tensor(argument(call, "weight")));
    return done(look_up(id, table, index, 0, false));
  }
  if (name == "index_select") {
    PASSNET_TRY(const Value table, tensor(argument(call, "input")));
    PASSNET_TRY(const Value index, tensor(argument(call, "index")));
    PASSNET_TRY(const int64_t dim, dimension(call, "dim", table.rank()));
    return done(look_up(id, table, index, dim, false));
  }
  if (name == "cat" || name == "stack") return done(concatenate(id, call, name == "stack"));
  if (name == "roll" || name == "flip") return done(move_elements(id, call, name == "roll"));
  if (name == "pad") return done(pad(id, call));
  return false;
}

// result[outer, index…, inner] = table[outer, index[…], inner].
Result<void> Writer::look_up(NodeId id, const Value& table, const Value& index, int64_t dim, bool wraps) {
  PASSNET_TRY(Value result, new_value(id));
  if (types_[index.type].compute != "int64_t") return unsupported("an index that is no tensor of integers");
  const Value from = flat(table), at = flat(index);
  Kernel kernel;
  kernel.name = fmt::format("{}_{}", name_, result.name);
  kernel.comment = fmt::format("{} looked up by {}.", from.name, at.name);
  kernel.parameters = {parameter(from, false), parameter(at, false), "int64_t m", "int64_t inner", "int64_t count"};
  kernel.arguments = {from.name, at.name, fmt::format("{}.shape[{}]", from.name, dim),
                      size_product(from.name, dim + 1, from.rank()), at.name + ".numel()"};
  kernel.items = fmt::format("{} * {}.numel() * {}", size_product(from.name, 0, dim), at.name,
                             size_product(from.name, dim + 1, from.rank()));
  kernel.body = fmt::format("int64_t row = {};\n", load(at, "i / inner % count"));
  if (wraps) kernel.body += "row += row < 0 ? m : 0;\n";
  // A row that is not there would be an error in PyTorch; here it must not be read.
  kernel.body += "row = row < 0 ? 0 : row >= m ? m - 1 : row;\n";
  const std::string element = fmt::format("{}[(i / inner / count * m + row) * inner + i % inner]", from.name);
  kernel.body += fmt::format("{}_out[i] = {};\n", result.name, element);
  const std::string shape =
      fmt::format("{0}.shape[:{1}] + {2}.shape + {0}.shape[{3}:]", from.name, dim, at.name, dim + 1);
  add_kernel(std::move(kernel), {&result}, std::span(&shape, 1));
  values_[id] = result;
  return {};
}

// Each part is written to its place in the result, by one launch of the same kernel.
Result<void> Writer::concatenate(NodeId id, const Call& call, bool stack) {
  PASSNET_TRY(Value result, new_value(id));
  PASSNET_TRY(const int64_t dim, dimension(call, "dim", result.rank()));
  const Arg& list = argument(call, "tensors");
  if (list.kind != ArgKind::Tuple && list.kind != ArgKind::List)
    return unsupported("what it joins is no list of tensors");
  std::vector<Value> parts;
  const std::vector<Arg> tensors(graph_.elements(list).begin(), graph_.elements(list).end());
  for (const Arg& arg : tensors) {
    PASSNET_TRY(const Value part, tensor(arg));
    if (part.type != result.type) return unsupported("tensors of different dtypes are joined");
    if (!stack && part.rank() != result.rank()) return unsupported("tensors of different ranks are joined");
    parts.push_back(flat(part));
  }
  const std::string lengths = stack ? fmt::format("{}", parts.size()) : [&] {
    std::string sum;
    for (const Value& part : parts) sum += fmt::format("{}{}.shape[{}]", sum.empty() ? "" : " + ", part.name, dim);
    return sum;
  }();
  const std::string& first = parts[0].name;
  const std::string shape =
      fmt::format("{0}.shape[:{1}] + ({2},) + {0}.shape[{3}:]", first, dim, lengths, stack ? dim : dim + 1);
  std::string before = "0";
  for (size_t i = 0; i < parts.size(); ++i) {
    const Value& part = parts[i];
    const std::string length = stack ? std::string("1") : fmt::format("{}.shape[{}]", part.name, dim);
    Kernel kernel;
    kernel.name = fmt::format("{}_{}", name_, i == 0 ? result.name : fmt::format("{}_part{}", result.name, i));
    kernel.comment = fmt::format("{} to its place in {}.", part.name, result.name);
    kernel.parameters = {parameter(part, false), "int64_t m", "int64_t inner", "int64_t start", "int64_t length"};
    kernel.arguments = {part.name, length, size_product(part.name, stack ? dim : dim + 1, part.rank()), before,
                        fmt::format("{}.shape[{}]", result.name, dim)};
    kernel.items = part.name + ".numel()";
    kernel.body = fmt::format(
        "const int64_t row = m * inner;\n{}_out[i / row * length * inner + start * inner + i % row] = {}[i];\n",
        result.name, part.name);
    if (i == 0) {
      add_kernel(std::move(kernel), {&result}, std::span(&shape, 1));
    } else {
      kernel.parameters.push_back(parameter(result, true));
      kernel.arguments.push_back(result.name);
      add_step({{}, {}, std::move(kernel)});
    }
    result.step = static_cast<int64_t>(steps_.size()) - 1;
    before = before == "0" ? length : fmt::format("{} + {}", before, length);
  }
  values_[id] = result;
  return {};
}

// roll and flip, one dimension after the other.
Result<void> Writer::move_elements(NodeId id, const Call& call, bool roll) {
  PASSNET_TRY(const Value given, tensor(argument(call, "input")));
  PASSNET_TRY(Value result, new_value(id));
  std::vector<int64_t> dims;
  PASSNET_TRY(dims, integers(call, "dims"));
  std::vector<std::string> shifts(dims.size());
  if (roll) {
    const Arg& arg = argument(call, "shifts");
    if (arg.kind != ArgKind::Tuple && arg.kind != ArgKind::List) return unsupported("'shifts' is no list");
    const auto elements = graph_.elements(arg);
    if (elements.size() != dims.size()) return unsupported("as many shifts as dimensions are expected");
    for (size_t i = 0; i < dims.size(); ++i) {
      PASSNET_TRY(shifts[i], plan_text(elements[i]));
    }
  }
  if (dims.empty()) return unsupported("no dimensions are given");
  Value x = flat(given);
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = dims[i] + (dims[i] < 0 ? x.rank() : 0);
    Value moved = result;
    if (i + 1 < dims.size()) moved.name = fresh(fmt::format("{}_dim{}", result.name, dim));
    Kernel kernel;
    kernel.name = fmt::format("{}_{}", name_, moved.name);
    kernel.comment = fmt::format("{} {} along dimension {}.", x.name, roll ? "rolled" : "turned round", dim);
    kernel.parameters = {parameter(x, false), "int64_t m", "int64_t inner"};
    const std::string length = fmt::format("{}.shape[{}]", x.name, dim);
    kernel.arguments = {x.name, length, size_product(x.name, dim + 1, x.rank())};
    if (roll) {
      kernel.parameters.push_back("int64_t shift");
      kernel.arguments.push_back(
          fmt::format("{} % max(1, {})", shifts[i].starts_with('-') ? "(" + shifts[i] + ")" : shifts[i], length));
    }
    kernel.items = x.name + ".numel()";
    kernel.body = fmt::format(
        "const int64_t j = i / inner % m;\nconst int64_t source = {};\n{}_out[i] = {}[i + (source - j) * inner];\n",
        roll ? "j >= shift ? j - shift : j - shift + m" : "m - 1 - j", moved.name, x.name);
    const std::string shape = x.name + ".shape";
    add_kernel(std::move(kernel), {&moved}, std::span(&shape, 1));
    x = moved;
  }
  values_[id] = x;
  return {};
}

// Constant padding, one dimension after the other; a negative pad cuts.
Result<void> Writer::pad(NodeId id, const Call& call) {
  PASSNET_TRY(const Value given, tensor(argument(call, "input")));
  PASSNET_TRY(Value result, new_value(id));
  if (!is_default(call, "mode", "\"constant\"")) return unsupported("a pad that repeats elements");
  PASSNET_TRY(const std::vector<int64_t> pads, integers(call, "pad"));
  if (pads.size() % 2 != 0 || pads.empty() || pads.size() / 2 > static_cast<size_t>(given.rank()))
    return unsupported("'pad' does not fit");
  Operand fill{{}, "0", {}};
  if (this->given(call, "value")) {
    PASSNET_TRY(fill, operand(argument(call, "value"), types_[result.type].compute, ""));
  }
  Value x = flat(given);
  for (size_t i = 0; i < pads.size() / 2; ++i) {
    const int64_t before = pads[2 * i], after = pads[2 * i + 1], dim = x.rank() - 1 - static_cast<int64_t>(i);
    if (before == 0 && after == 0 && i + 1 < pads.size() / 2) continue;
    Value padded = x;
    padded.name = fresh(fmt::format("{}_dim{}", result.name, dim));
    if (i + 1 == pads.size() / 2) padded = result;
    Kernel kernel;
    kernel.name = fmt::format("{}_{}", name_, padded.name);
    kernel.comment = fmt::format("{} padded along dimension {}.", x.name, dim);
    const std::string length = fmt::format("{}.shape[{}]", x.name, dim),
                      longer = fmt::format("({} + {})", length, before + after);
    kernel.parameters = {parameter(x, false), "int64_t m", "int64_t inner", "int64_t length", "int64_t start"};
    kernel.arguments = {x.name, length, size_product(x.name, dim + 1, x.rank()),
                        fmt::format("{} + {}", length, before + after), fmt::format("{}", before)};
    if (!fill.declared.empty()) {
      kernel.parameters.push_back(fmt::format("{} {}", fill.declared, fill.text));
      kernel.arguments.push_back(fill.text);
    }
    kernel.items =
        fmt::format("{} * {} * {}", size_product(x.name, 0, dim), longer, size_product(x.name, dim + 1, x.rank()));
    kernel.body = "const int64_t j = i / inner % length - start;\nconst bool is_there = j >= 0 && j < m;\n";
    kernel.body += fmt::format("{}_out[i] = is_there ? {}[(i / inner / length * m + j) * inner + i % inner] : {};\n",
                               padded.name, x.name, convert(x.type, fill.text, types_[x.type].compute));
    const std::string shape = fmt::format("{0}.shape[:{1}] + ({2},) + {0}.shape[{3}:]", x.name, dim, longer, dim + 1);
    add_kernel(std::move(kernel), {&padded}, std::span(&shape, 1));
    x = padded;
  }
  values_[id] = x;
  return {};
}

}  // namespace passnet::author
