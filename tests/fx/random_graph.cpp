#include "random_graph.h"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <random>
#include <vector>

#include "fx/syntax/operators.h"

namespace passnet::fx {
namespace {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;
using ir::NodeKind;

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  ir::Graph make(size_t nodes) {
    const size_t placeholders = below(4);
    for (size_t i = 0; i < placeholders; ++i) {
      const std::string_view target = graph_.intern(fmt::format("L_{}_", i));
      const std::string_view name = below(2) ? target : graph_.intern(fmt::format("l_{}_", i));
      graph_.add_placeholder(target, name, below(2) ? "torch.Tensor" : "");
    }
    for (size_t i = 0; i < nodes; ++i) add_node();
    graph_.add_output(argument(2));
    return std::move(graph_);
  }

 private:
  size_t below(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }

  template <size_t N>
  std::string_view one_of(const std::string_view (&choices)[N]) {
    return choices[below(N)];
  }

  // Some names are those that nodes without a name would get, so that the two kinds meet.
  std::string_view fresh_name() {
    const NodeId id = graph_.size();
    return graph_.intern(below(3) == 0 ? fmt::format("relu_{}", id) : fmt::format("n{}", id));
  }

  double real() {
    switch (below(4)) {
      case 0: return std::bit_cast<double>(random_());
      case 1: return std::numeric_limits<double>::infinity();
      case 2: return static_cast<double>(below(100)) / 8;
      default: return -1e-5 * static_cast<double>(below(100));
    }
  }

  Arg literal() {
    static constexpr std::string_view kTexts[] = {"", "ij,jk->ik", "a\"b'c\\", "tab\tnew\nline", "é\x01"};
    static constexpr std::string_view kDevices[] = {"cpu", "cuda", "cuda:0", "cuda:12"};
    static constexpr std::string_view kConstants[] = {"torch.channels_last", "torch.strided", "torch.uint16"};
    switch (below(9)) {
      case 0: return Arg::none();
      case 1: return Arg::of_bool(below(2));
      case 2: return Arg::of_int(static_cast<int64_t>(random_()) >> below(64));
      case 3: {
        const double value = real();
        // Which nan it is is lost in print: there is one.
        return Arg::of_float(value != value ? std::numeric_limits<double>::quiet_NaN() : value);
      }
      case 4: return Arg::of_text(ArgKind::String, one_of(kTexts));
      case 5: return Arg::of_dtype(static_cast<ir::DType>(below(12)));
      case 6: return Arg::of_text(ArgKind::Device, one_of(kDevices));
      case 7: return Arg::of_text(ArgKind::Constant, one_of(kConstants));
      default: return Arg::ellipsis();
    }
  }

  Arg node() { return Arg::of_node(static_cast<NodeId>(below(graph_.size()))); }

  Arg argument(size_t depth) {
    const size_t choice = below(10);
    if (choice < 5 && graph_.size() > 0) return node();
    if (choice < 8 || depth == 0) return literal();
    const ArgKind kinds[] = {ArgKind::Tuple, ArgKind::List, ArgKind::Slice};
    const ArgKind kind = kinds[below(3)];
    const size_t count = kind == ArgKind::Slice ? 3 : below(4);
    std::vector<Arg> elements;
    for (size_t i = 0; i < count; ++i) elements.push_back(argument(depth - 1));
    return graph_.make_container(kind, elements);
  }

  std::vector<Arg> arguments(size_t count) {
    std::vector<Arg> args;
    for (size_t i = 0; i < count; ++i) args.push_back(argument(2));
    return args;
  }

  std::vector<ir::Keyword> keywords() {
    static constexpr std::string_view kNames[] = {"dim", "inplace", "eps"};
    std::vector<ir::Keyword> keywords;
    for (size_t i = 0, count = below(4); i < count; ++i) keywords.push_back({kNames[i], argument(2)});
    return keywords;
  }

  void add_node() {
    static constexpr std::string_view kFunctions[] = {"torch.add", "torch.nn.functional.relu",
                                                      "torch.ops.aten.relu.default", "passnet.fused"};
    static constexpr std::string_view kMethods[] = {"view", "relu", "to"};
    static constexpr std::string_view kAttributes[] = {"T", "shape", "device"};
    switch (below(6)) {
      case 0:
      case 1: add(NodeKind::CallFunction, one_of(kFunctions), arguments(below(4)), keywords()); return;
      case 2: add(NodeKind::CallMethod, one_of(kMethods), arguments(1 + below(3)), keywords()); return;
      case 3: add(NodeKind::Attribute, one_of(kAttributes), arguments(1), {}); return;
      default: add_operator(); return;
    }
  }

  void add_operator() {
    const OperatorRow& row = kOperators[below(kOperators.size())];
    size_t count = row.form == OperatorForm::Unary ? 1 : row.form == OperatorForm::SetItem ? 3 : 2;
    if (below(16) == 0) count = below(4);
    std::vector<Arg> args = arguments(count);
    if (count > 0 && below(3) > 0 && graph_.size() > 0) args[0] = node();
    add(NodeKind::Operator, row.target, args, below(16) == 0 ? keywords() : std::vector<ir::Keyword>{});
  }

  void add(NodeKind kind, std::string_view target, const std::vector<Arg>& args,
           const std::vector<ir::Keyword>& keywords) {
    const std::string_view name = fresh_name();
    graph_.add_node(kind, target, name, args, keywords);
  }

  std::mt19937_64 random_;
  ir::Graph graph_;
};

}  // namespace

ir::Graph random_graph(uint64_t seed, size_t nodes) { return Maker(seed).make(nodes); }

}  // namespace passnet::fx
