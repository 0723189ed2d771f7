// Name.py: the pattern of a part of a graph, and the plan that launches its kernels.
#pragma once

#include <string>
#include <vector>

#include "author/define/definitions.h"
#include "author/fuse/kernel.h"
#include "author/text/kernel_text.h"

namespace passnet::author {

/// A part of the graph: what goes in, what comes out.
struct GraphPart {
  std::vector<ir::NodeId> nodes, inputs, outputs;
  std::vector<ir::NodeId> views;  // of the nodes: those that the plan itself makes, of what kernels stored or of inputs
};

struct NamedKernel {
  std::string name;
  KernelFacts facts;
  Lanes lanes = Lanes::Items;
  std::string cpp, cuda;  // its text, in which its constants are looked for
};

std::string python_text(const Subject& subject, Definitions& definitions, const GraphPart& part,
                        const std::vector<NamedKernel>& kernels, const std::string& name,
                        const std::vector<std::string>& comment);

}  // namespace passnet::author
