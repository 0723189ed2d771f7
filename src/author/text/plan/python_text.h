// Name.py: the pattern of a part of a graph, and the plan that launches its kernels.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "author/define/definitions.h"
#include "author/fuse/kernel.h"
#include "author/subject/part.h"
#include "author/text/plan/named_kernel.h"
#include "author/text/plan/schedule.h"
#include "author/text/plan/step_lines.h"
#include "base/result.h"

namespace passnet::author {

/// A pass, and where its plan may decline more.
struct PythonText {
  std::string text;
  size_t plan = 0, launches = 0,
         end = 0;  // where the body of the plan, its first launch or call and what follows it begin
  std::vector<std::pair<std::string, std::string>>
      sites;  // by example: its name and what holds there alone; empty: nothing
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
