// Which integers are sizes, found with types that a small interpreter gives.
#include "dataset/sizes/solver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <numeric>
#include <variant>

#include "dataset/shapes_fixture.h"
#include "fx/print.h"

namespace passnet::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Shape = std::vector<int64_t>;
using Value = std::variant<std::monostate, int64_t, Shape>;  // monostate: it has no type

/// Types of graphs made of size, view, relu, arange, + and //.
class Interpreter {
 public:
  Interpreter(const ir::Graph& graph, const Shapes& inputs) : graph_(graph), values_(graph.size()) {
    for (ir::NodeId id = 0; id < graph.size(); ++id) {
      const ir::Node& node = graph.node(id);
      if (node.kind == ir::NodeKind::Placeholder) values_[id] = inputs.at(std::string(node.name));
      if (node.kind != ir::NodeKind::Placeholder && node.kind != ir::NodeKind::Output) values_[id] = call(node);
    }
  }
  /// By node of `original`, whose values have the same names here.
  analysis::ValueShapes shapes(const ir::Graph& original) const {
    analysis::ValueShapes shapes = shapes_of(original, {});
    for (ir::NodeId id = 0; id < original.size(); ++id) {
      for (ir::NodeId here = 0; here < graph_.size(); ++here) {
        if (graph_.node(here).name != original.node(id).name || original.node(id).kind == ir::NodeKind::Output)
          continue;
        if (const Shape* shape = std::get_if<Shape>(&values_[here])) shapes.shape[id] = *shape;
        if (std::holds_alternative<std::monostate>(values_[here])) shapes.unknown[id] = "sizes do not fit";
      }
    }
    return shapes;
  }

 private:
  Value value(const ir::Arg& arg) const {
    if (arg.kind == ir::ArgKind::Int) return arg.integer;
    return arg.kind == ir::ArgKind::Node ? values_[arg.node] : Value();
  }
  Value call(const ir::Node& node) const {
    std::vector<Value> args;
    for (const ir::Arg& arg : graph_.args(node)) args.push_back(value(arg));
    if (std::ranges::any_of(args, [](const Value& one) { return std::holds_alternative<std::monostate>(one); }))
      return {};
    if (node.target == "size") return std::get<Shape>(args[0])[static_cast<size_t>(std::get<int64_t>(args[1]))];
    if (node.target == "torch.relu") return args[0];
    if (node.target == "torch.arange") return Shape{std::get<int64_t>(args[0])};
    if (node.target == "//") return std::get<int64_t>(args[0]) / std::get<int64_t>(args[1]);
    if (node.target == "view") return view(args);
    if (std::holds_alternative<int64_t>(args[0])) return std::get<int64_t>(args[0]) + std::get<int64_t>(args[1]);
    return broadcast(std::get<Shape>(args[0]), std::get<Shape>(args[1]));
  }
  static int64_t elements(const Shape& shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  }
  static Value view(const std::vector<Value>& args) {
    Shape shape;
    for (size_t i = 1; i < args.size(); ++i) shape.push_back(std::get<int64_t>(args[i]));
    return elements(shape) == elements(std::get<Shape>(args[0])) ? Value(shape) : Value();
  }
  static Value broadcast(Shape a, Shape b) {
    if (a.size() < b.size()) std::swap(a, b);
    for (size_t i = 0; i < b.size(); ++i) {
      int64_t& one = a[a.size() - 1 - i];
      const int64_t other = b[b.size() - 1 - i];
      if (one != other && one != 1 && other != 1) return {};
      one = std::max(one, other);
    }
    return a;
  }

  const ir::Graph& graph_;
  std::vector<Value> values_;
};

/// Solves a graph for the inputs' sizes as captured (the first) and at trials.
class Solver {
 public:
  Solver(const std::string& parameters, const std::string& body, std::vector<Shapes> sizes)
      : graph(fx::parse(parameters, body)), sizes_(std::move(sizes)) {
    trials.captured.resize(sizes_.size() - 1);
    trials.infer = [this](const ir::Graph& fitted, std::span<const size_t> which) {
      std::vector<analysis::ValueShapes> found;
      for (const size_t trial : which) found.push_back(Interpreter(fitted, sizes_[1 + trial]).shapes(graph));
      return found;
    };
  }
  Result<SizeSolution> solve() const { return solve_sizes(graph, Interpreter(graph, sizes_[0]).shapes(graph), trials); }
  /// "y: x.size(0), 3" by changed node; then the misfit.
  std::vector<std::string> solution() const {
    const Result<SizeSolution> solved = solve();
    if (!solved) return {to_string(solved.error())};
    std::vector<std::string> lines;
    for (const analysis::NodeSizes& change : solved->changes) {
      std::vector<std::string> sizes;
      for (const auto& size : change.sizes) sizes.push_back(to_string(size, graph));
      lines.push_back(fmt::format("{}: {}", graph.node(change.node).name, fmt::join(sizes, ", ")));
    }
    if (const auto& misfit = solved->misfit)
      lines.push_back(fmt::format("misfit {}: {}",
                                  misfit->node == ir::kNoNode ? "nowhere" : std::string(graph.node(misfit->node).name),
                                  misfit->why));
    return lines;
  }

  const ir::Graph graph;
  SizeTrials trials;

 private:
  const std::vector<Shapes> sizes_;
};

TEST(SizeSolver, FindsTheSizesOfAView) {
  const Solver solver("x", "y = x.view(1, 196, 3, 64)\nreturn (y,)",
                      {{{"x", {1, 196, 192}}}, {{"x", {3, 196, 192}}}, {{"x", {1, 784, 192}}}});
  EXPECT_THAT(solver.solution(), ElementsAre("y: x.size(0), x.size(1), 3, 64"));
}

TEST(SizeSolver, FollowsAChangeThroughTheGraph) {
  const Solver solver("x", "y = x.view(16, 8, 4)\nz = torch.relu(y)\nw = z.view(16, 32)\nreturn (w,)",
                      {{{"x", {16, 32}}}, {{"x", {48, 32}}}});
  EXPECT_THAT(solver.solution(), ElementsAre("y: x.size(0), 8, 4", "w: z.size(0), 32"));
}

TEST(SizeSolver, LeavesWhatFitsAsItIs) {
  const Solver solver("x", "y = torch.relu(x)\nreturn (y,)", {{{"x", {4, 8}}}, {{"x", {6, 8}}}});
  EXPECT_THAT(solver.solution(), IsEmpty());
}

// 16 is the last axis as well as the one before; only the latter fits.
TEST(SizeSolver, TriesTheNextBestWhereTheBestDoesNotFit) {
  const Solver solver("x", "r = torch.arange(16)\nc = r.view(16, 1)\ny = x + c\nreturn (y,)",
                      {{{"x", {2, 16, 16}}}, {{"x", {2, 32, 16}}}, {{"x", {2, 16, 48}}}});
  EXPECT_THAT(solver.solution(), ElementsAre("r: x.size(1)", "c: r.size(0), 1"));
}

TEST(SizeSolver, NamesTheFirstNodeThatFitsNowhere) {
  const Solver solver("x, table", "y = torch.relu(x)\nz = y + table\nreturn (z,)",
                      {{{"x", {2, 16}}, {"table", {16}}}, {{"x", {2, 32}}, {"table", {16}}}});
  EXPECT_THAT(solver.solution(), ElementsAre("misfit z: sizes do not fit"));
}

TEST(SizeSolver, EndsWhenToldTo) {
  Solver solver("x", "y = x.view(4, 2, 4)\nreturn (y,)", {{{"x", {4, 8}}}, {{"x", {6, 8}}}});
  solver.trials.why_over = [] { return std::string("the time is up"); };
  EXPECT_THAT(solver.solution(), ElementsAre("misfit nowhere: the time is up"));
}

TEST(SizeSolver, GivesTheErrorOfWhatInfers) {
  Solver solver("x", "y = x.view(4, 2, 4)\nreturn (y,)", {{{"x", {4, 8}}}, {{"x", {6, 8}}}});
  solver.trials.infer = [](const ir::Graph&, std::span<const size_t>) -> Result<std::vector<analysis::ValueShapes>> {
    return resource_error("no worker");
  };
  EXPECT_EQ(solver.solve().error().message, "no worker");
}

TEST(SizeSolver, GivesWhatAnotherCaptureHas) {
  const char* body = "r = torch.arange({})\ny = torch.relu(x)\nreturn (y, r)";
  const std::vector<Shapes> sizes{{{"x", {2, 16}}}, {{"x", {2, 50}}}};
  Solver solver("x", fmt::format(fmt::runtime(body), 16), sizes);
  const ir::Graph grows = fx::parse("x", fmt::format(fmt::runtime(body), 50)),
                  stays = fx::parse("x", fmt::format(fmt::runtime(body), 16)),
                  other = fx::parse("x", fmt::format(fmt::runtime(body), 77));
  solver.trials.captured = {&grows};
  EXPECT_THAT(solver.solution(), ElementsAre("r: x.size(1)"));
  solver.trials.captured = {&stays};
  EXPECT_THAT(solver.solution(), ElementsAre("r: 16"));
  solver.trials.captured = {&other};
  EXPECT_THAT(solver.solution(), ElementsAre("misfit r: no size in the graph gives what the other capture has"));
}

}  // namespace
}  // namespace passnet::dataset
