// Solutions of FlashInfer-Trace as passes: texts, graphs, and what is refused.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "exchange/definition.h"
#include "exchange/graphs.h"
#include "exchange/solution.h"
#include "exchange/texts.h"
#include "graphdir/sample.h"
#include "pass/source.h"
#include "tests/scratch.h"

namespace passnet::exchange {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kReference = R"(import torch

@torch.no_grad()
def run(x, weight, eps):
    """Root mean square."""
    rows, width = x.shape
    # Check constants
    assert width == 64, (
        "width")
    wide = x.to(torch.float32)
    scale = torch.rsqrt(wide.pow(2).mean(dim=-1, keepdim=True) + eps)
    return ((wide * scale) * weight.to(torch.float32)).to(x.dtype)
)";

Json definition() {
  return {{"name", "norm_w64"},
          {"op_type", "rmsnorm"},
          {"axes", {{"rows", {{"type", "var"}}}, {"width", {{"type", "const"}, {"value", 64}}}}},
          {"inputs",
           {{"x", {{"shape", {"rows", "width"}}, {"dtype", "bfloat16"}}},
            {"weight", {{"shape", {"width"}}, {"dtype", "bfloat16"}}},
            {"eps", {{"shape", nullptr}, {"dtype", "float32"}}}}},
          {"outputs", {{"out", {{"shape", {"rows", "width"}}, {"dtype", "bfloat16"}}}}},
          {"reference", kReference}};
}

constexpr const char* kMain = R"(import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x, weight, out, width, eps, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0) * width + at, mask=at < width, other=0.0).to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(value * value, axis=0) / width + eps)
    result = value * scale * tl.load(weight + at, mask=at < width, other=0.0).to(tl.float32)
    tl.store(out + tl.program_id(0) * width + at, result.to(out.dtype.element_ty), mask=at < width)


def run(x, weight, eps, out):
    rows_kernel[(x.shape[0],)](x, weight, out, x.shape[1], eps, BLOCK=64)
)";

Json solution() {
  return {{"name", "norm_triton"},
          {"definition", "norm_w64"},
          {"author", "me"},
          {"spec", {{"language", "triton"}, {"target_hardware", {"NVIDIA_H100"}}, {"entry_point", "main.py::run"}}},
          {"sources", {{{"path", "main.py"}, {"content", kMain}}}}};
}

struct Trace {
  ScratchDirectory scratch;
  fs::path definitions = scratch.path / "definitions" / "rmsnorm", solutions = scratch.path / "solutions" / "me";

  void write(const fs::path& path, const std::string& text) const { EXPECT_TRUE(write_file(path, text)); }
  /// The texts of the pass, or the error with the directory left out.
  std::string made(const Json& definition, const Json& solution) const {
    write(definitions / "norm_w64.json", definition.dump());
    write(solutions / "norm_triton.json", solution.dump());
    const Result<pass::PassTexts> texts = read();
    std::string text = texts ? texts->python : to_string(texts.error());
    for (size_t at; (at = text.find(scratch.path.string() + "/")) != std::string::npos;)
      text.erase(at, scratch.path.string().size() + 1);
    return text;
  }
  Result<pass::PassTexts> read() const {
    PASSNET_TRY(const Solution solution, load_solution(solutions / "norm_triton.json"));
    PASSNET_TRY(const fs::path path, find_definition(solution));
    PASSNET_TRY(const Definition definition, load_definition(path));
    return texts_of(definition, solution, "norm");
  }
};

/// A copy with one field set.
Json with(Json json, const std::string& pointer, const Json& value) {
  json[Json::json_pointer(pointer)] = value;
  return json;
}

TEST(SolutionTexts, AreTheSolutionAndAPlanThatCallsIt) {
  const Trace trace;
  const std::string text = trace.made(definition(), solution());
  EXPECT_THAT(text, testing::StartsWith(kMain));
  EXPECT_EQ(text.substr(std::string(kMain).size()), R"(
import torch
import torch


def pattern(x, weight, eps):
    """Root mean square."""
    rows, width = x.shape
    # Check constants


    wide = x.to(torch.float32)
    scale = torch.rsqrt(wide.pow(2).mean(dim=-1, keepdim=True) + eps)
    return ((wide * scale) * weight.to(torch.float32)).to(x.dtype)


def replacement_args(x, weight, eps):
    return (x, weight, eps,)


def norm(x, weight, eps):
    if x.dtype != torch.bfloat16 or x.ndim != 2 or not x.is_contiguous():
        return NotImplemented
    if weight.dtype != torch.bfloat16 or weight.ndim != 1 or not weight.is_contiguous():
        return NotImplemented
    if x.shape[1] != 64 or weight.shape[0] != 64:
        return NotImplemented
    out = torch.empty((x.shape[0], 64, ), dtype=torch.bfloat16)
    run(x, weight, eps, out)
    return out


def replacement_func():
    return norm
)");
}

TEST(SolutionTexts, ReadAsAPass) {
  const Trace trace;
  const fs::path file = trace.scratch.path / "norm.py";
  trace.write(file, trace.made(definition(), solution()));
  const Result<pass::Pass> pass = pass::load_pass(file);
  ASSERT_TRUE(pass) << to_string(pass.error());
  EXPECT_TRUE(pass->has_triton);
  EXPECT_EQ(pass->plan.entry, "norm");
}

TEST(SolutionTexts, ReturnWhatTheEntryPointReturns) {
  const Trace trace;
  const auto plan = [&](const std::string& source, const Json& spec) {
    const std::string text =
        trace.made(definition(), with(with(solution(), "/sources/0/content", source), "/spec", spec));
    const size_t begin = text.find("    if x.shape[1]");
    return begin == std::string::npos ? text : text.substr(begin, text.find("\n\n\ndef replacement_func") - begin);
  };
  const Json spec{{"language", "triton"}, {"entry_point", "main.py::run"}};
  const std::string guard = "    if x.shape[1] != 64 or weight.shape[0] != 64:\n        return NotImplemented\n";
  EXPECT_EQ(plan("def run(x, weight, eps):\n    return x\n", with(spec, "/destination_passing_style", false)),
            guard + "    return run(x, weight, eps)");
  // Solutions older than the field return their outputs, and some by name.
  EXPECT_EQ(plan("def run(x, weight, eps):\n    return {'out': x}\n", spec),
            guard + "    results = run(x, weight, eps)\n    return results[\"out\"]");
  EXPECT_EQ(plan("def run(weight, x, eps=1e-6, *more, **rest):\n    return x\n", spec),
            guard + "    return run(weight, x, eps)");
  EXPECT_EQ(plan("def run(a, b, c):\n    return a\n", spec), guard + "    return run(x, weight, eps)");
}

TEST(SolutionTexts, RefuseASolutionByName) {
  const Trace trace;
  const auto error = [&](const std::string& pointer, const Json& value) {
    return trace.made(definition(), with(solution(), pointer, value));
  };
  EXPECT_EQ(
      error("/sources", 1),
      "solutions/me/norm_triton.json: error: solution: field 'sources': expected an array of objects, found number "
      "'1'");
  EXPECT_EQ(error("/definition", "../norm_w64"),
            "solutions/me/norm_triton.json: error: definition '../norm_w64' was not found\n"
            "hint: put its NAME.json beside the solution, or keep 'definitions' and 'solutions' in one directory");
  EXPECT_EQ(
      error("/spec", {{"language", "cuda"}, {"entry_point", "main.cpp::run"}}),
      "solutions/me/norm_triton.json: error: entry point 'main.cpp::run': host code of language 'cuda' cannot be a "
      "plan\n"
      "hint: write the function in Python: 'kernel[grid, threads](x, out)' launches a kernel of the .cu source");
  EXPECT_EQ(error("/spec/entry_point", "run"),
            "solutions/me/norm_triton.json: error: entry point 'run': expected 'FILE::FUNCTION'");
  EXPECT_EQ(error("/spec/entry_point", "other.py::run"),
            "solutions/me/norm_triton.json: error: entry point 'other.py::run': there is no such source");
  EXPECT_EQ(error("/spec/entry_point", "main.py::go"),
            "solutions/me/norm_triton.json: main.py: error: the source has no function 'go'");
  EXPECT_EQ(
      error("/sources/1", {{"path", "kernel.h"}, {"content", ""}}),
      "solutions/me/norm_triton.json: error: source 'kernel.h': a pass has one file of Python, of C++ and of CUDA\n"
      "hint: copy it into the source that needs it");
  EXPECT_EQ(error("/sources/0/content", "def run(x):\n    return x\n"),
            "solutions/me/norm_triton.json: main.py:1:1: error: 'run' takes (x), expected (x, weight, eps)");
  EXPECT_EQ(error("/sources/0/content", "def norm(x):\n    return x\n\ndef run(x, weight, eps):\n    return x\n"),
            "solutions/me/norm_triton.json: main.py: error: the source defines 'norm', as the pass does\n"
            "hint: rename it in the solution, or give the pass another NAME");
  EXPECT_THAT(
      error("/sources/0/content", "class Net(torch.nn.Module):\n    pass\n\ndef run(x, weight, eps):\n    async = 1\n"),
      HasSubstr("main.py:5:"));
}

TEST(Definition, IsRefusedByName) {
  const Trace trace;
  const auto error = [&](const std::string& pointer, const Json& value) {
    return trace.made(with(definition(), pointer, value), solution());
  };
  const std::string file = "definitions/rmsnorm/norm_w64.json: ";
  EXPECT_EQ(error("/reference", 1), file + "error: definition: field 'reference': expected a string, found number '1'");
  EXPECT_EQ(error("/axes", Json::object()),
            file + "error: definition: field 'axes': expected an object with an item or more, found '{}'");
  EXPECT_EQ(error("/inputs/a b", {{"shape", nullptr}}),
            file + "error: definition: field 'inputs': expected identifiers for keys, found 'a b'");
  EXPECT_EQ(error("/axes/rows/type", "odd"), file + "error: axis 'rows': expected type 'const' or 'var', found 'odd'");
  EXPECT_EQ(error("/axes/width/value", 0), file + "error: axis 'width': expected a value of 1 or more, found 0");
  EXPECT_EQ(
      error("/inputs/x/shape", 3),
      file + R"(error: 'x': field 'shape': expected a list of axes or null, found '{"shape":3,"dtype":"bfloat16"}')");
  EXPECT_EQ(error("/inputs/x/shape/0", "depth"), file + "error: 'x': axis 'depth' is not among the axes");
  EXPECT_EQ(error("/inputs/x/dtype", "float8_e4m3fn"),
            file +
                "error: 'x': dtype 'float8_e4m3fn', which graphs do not have\n"
                "hint: take a definition of float16, bfloat16, float32, integers or bool");
  EXPECT_EQ(error("/outputs/out/shape", nullptr),
            "solutions/me/norm_triton.json: error: output 'out' is a number, which no kernel returns\n"
            "hint: return a tensor of shape []");
  EXPECT_EQ(trace.made(with(with(definition(), "/axes/depth", {{"type", "var"}}), "/outputs/out/shape/0", "depth"),
                       solution()),
            "solutions/me/norm_triton.json: error: axis 'depth' of output 'out': no input has it\n"
            "hint: let the solution return its outputs: destination_passing_style false");
}

TEST(Definition, HasAReferenceThatIsAPattern) {
  const Trace trace;
  const auto error = [&](const std::string& reference) {
    return trace.made(with(definition(), "/reference", reference), solution());
  };
  const std::string file = "definitions/rmsnorm/norm_w64.json: reference";
  EXPECT_EQ(error("def other(x):\n    return x"), file + ": error: the reference has no function 'run'");
  EXPECT_EQ(error("EPS = 1\ndef run(x, weight, eps):\n    return x"),
            file +
                ":1:1: error: the reference has code beside its function 'run'\n"
                "hint: write it into 'run', one operator after the other");
  EXPECT_EQ(error("def run(x, eps, weight):\n    return x + eps + weight"),
            file + ":1:1: error: 'run' takes (x, eps, weight), expected the inputs (x, weight, eps)");
  EXPECT_THAT(error("def run(x, weight, eps):\n    for i in range(2):\n        x = x + eps\n    return x * weight"),
              testing::AllOf(HasSubstr(file + ":2:"), HasSubstr("note: a pattern is straight-line code")));
}

TEST(WorkloadGraphs, AreWrittenOncePerSetOfSizes) {
  const Trace trace;
  trace.made(definition(), solution());
  const fs::path workloads = trace.scratch.path / "workloads" / "rmsnorm" / "norm_w64.jsonl";
  EXPECT_EQ(workloads_of(trace.definitions / "norm_w64.json"), workloads);
  const auto line = [](int rows, const char* type) {
    return Json{{"definition", "norm_w64"},
                {"workload",
                 {{"uuid", "u"},
                  {"axes", {{"rows", rows}}},
                  {"inputs",
                   {{"x", {{"type", type}}},
                    {"weight", {{"type", "random"}}},
                    {"eps", {{"type", "scalar"}, {"value", 1e-6}}}}}}}}
               .dump() +
           "\n";
  };
  trace.write(workloads, line(7, "random") + line(8, "safetensors") + line(9, "random") + line(7, "random"));
  const Result<Definition> definition = load_definition(trace.definitions / "norm_w64.json");
  ASSERT_TRUE(definition) << to_string(definition.error());
  const fs::path graphs = trace.scratch.path / "graphs";
  const Result<WorkloadGraphs> made = write_graphs(*definition, workloads, graphs);
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_THAT(made->written, testing::ElementsAre(graphs / "rows_7", graphs / "rows_9"));
  EXPECT_THAT(made->left, testing::ElementsAre(std::pair(2u, "input 'x' is of type 'safetensors', expected 'random'")));
  const Result<graphdir::GraphDir> graph = graphdir::load_graph_dir(graphs / "rows_7");
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_THAT(graph->find_record("x")->shape, testing::ElementsAre(7, 64));
  EXPECT_THAT(read_file(graphs / "rows_7" / "model.py", FileKind::Graph).value(), HasSubstr("1e-06"));

  trace.write(workloads, line(7, "random") + line(0, "random"));
  EXPECT_EQ(to_string(write_graphs(*definition, workloads, graphs).error()),
            workloads.string() + ":2:1: error: axis 'rows': expected a size of 1 or more, found '0'");
  trace.write(workloads, "{}\n");
  EXPECT_EQ(to_string(write_graphs(*definition, workloads, graphs).error()),
            workloads.string() + ":1:1: error: expected an object 'workload' with 'axes' and 'inputs'");
}

}  // namespace
}  // namespace passnet::exchange
