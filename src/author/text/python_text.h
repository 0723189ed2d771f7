// Name.py: the pattern of a part of a graph, and the plan that launches its kernels.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "author/define/definitions.h"
#include "author/fuse/kernel.h"
#include "author/subject/part.h"
#include "author/text/facts.h"
#include "author/text/schedule.h"
#include "base/result.h"

namespace passnet::author {

struct NamedKernel {
  std::string name;
  KernelFacts facts;
  Lanes lanes = Lanes::Items;
  std::string cpp, cuda;  // its text, in which its constants are looked for
  /// What is launched in its place where several blocks or tasks share a row; empty: they never do.
  std::vector<NamedKernel> split = {};
  std::vector<Loop> split_loops = {};  // of a row, the first of which is shared out
  SizeId split_length = 0;             // all of them
  bool over_row = true;                // of one that it is split into: as SplitKernel has it
};
/// How many share a row of that graph of the subject.
int64_t parts_of(const Schedule& schedule, const SizeTable& sizes, const NamedKernel& kernel, bool on_gpu,
                 size_t example);

/// The call as the graph has it: "y = torch.conv2d(x, weight, None, (1, 1))", without a bias that a kernel adds.
/// REQUIRES: made is made by a call.
std::string call_text(const ir::Graph& graph, const Tensor& made);

/// A pass, and where its plan may decline more.
struct PythonText {
  std::string text;
  size_t plan = 0, launches = 0,
         end = 0;  // where the body of the plan, its first launch or call and what follows it begin
  std::vector<std::pair<std::string, std::string>>
      sites;  // by example: its name and what holds there alone; empty: nothing
};
/// One after the other: the kernel of that number is launched, or what the call makes is made.
struct PlanStep {
  std::optional<size_t> kernel;
  TensorId call = 0;
};
/// subject: its graph's pool may grow. Errors: Unsupported: a size would be asked for before the call whose result has it.
Result<PythonText> python_text(Subject& subject, Definitions& definitions, const GraphPart& part,
                               const std::vector<NamedKernel>& kernels, const std::vector<PlanStep>& steps,
                               const Schedule& schedule, const std::string& name,
                               const std::vector<std::string>& comment);
/// The text of a plan that declines these examples too. declined: by name, with why. Where nothing tells them from others, the
/// others are declined with them.
std::string declining(const PythonText& python, const std::map<std::string, std::string>& declined);

}  // namespace passnet::author
