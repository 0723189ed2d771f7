#include "runtime/gpu/executable.h"

#include <algorithm>

#include "runtime/gpu/driver.h"

namespace passnet::runtime::gpu {

Executable::~Executable() {
  for (const Part& part : parts_) {
    if (part.executable != nullptr) driver().cuGraphExecDestroy(part.executable);
    if (part.graph != nullptr) driver().cuGraphDestroy(part.graph);
  }
}

CUresult Executable::make_part(CUgraph recorded, const std::vector<Operation>& operations, size_t count, Part& part) {
  const bool whole = count == operations.size();
  if (!whole) {
    if (const CUresult cloned = driver().cuGraphClone(&part.graph, recorded); cloned != CUDA_SUCCESS) return cloned;
  }
  for (size_t i = 0; i < operations.size(); ++i) {
    CUgraphNode node = operations[i].node();
    if (!whole) {
      const CUresult found = driver().cuGraphNodeFindInClone(&node, node, part.graph);
      if (found != CUDA_SUCCESS) return found;
    }
    if (i >= part.begin && i < part.begin + count) {
      part.nodes.push_back(node);
    } else if (const CUresult removed = driver().cuGraphDestroyNode(node); removed != CUDA_SUCCESS) {
      return removed;
    }
  }
  const CUresult made =
      driver().cuGraphInstantiateWithFlags(&part.executable, whole ? recorded : part.graph, /*flags=*/0);
  return made != CUDA_SUCCESS ? made : driver().cuGraphUpload(part.executable, stream());
}

Result<Executable> Executable::make(CUgraph recorded, const std::vector<Operation>& operations, size_t first) {
  Executable made;
  size_t count = first, begin = 0;
  do {
    Part& part = made.parts_.emplace_back();
    part.begin = begin;
    count = std::min(count, operations.size() - begin);
    const CUresult done = make_part(recorded, operations, count, part);
    if (done != CUDA_SUCCESS) return unsupported(describe(done));
    begin += count;
    count *= 2;
  } while (begin < operations.size());
  return made;
}

void Executable::update(std::vector<Operation>& operations) {
  for (const Part& part : parts_) {
    for (size_t i = 0; i < part.nodes.size(); ++i) {
      Operation& operation = operations[part.begin + i];
      if (operation.moves()) check(operation.update(part.executable, part.nodes[i]), "updating a recorded operation");
    }
  }
}

void Executable::launch(std::vector<Operation>& operations, const std::vector<uint64_t>* base) {
  for (const Part& part : parts_) {
    for (size_t i = 0; base != nullptr && i < part.nodes.size(); ++i) {
      Operation& operation = operations[part.begin + i];
      if (operation.patch(*base))
        check(operation.update(part.executable, part.nodes[i]), "updating a recorded operation");
    }
    check(driver().cuGraphLaunch(part.executable, stream()), "launching the recorded graph");
  }
}

}  // namespace passnet::runtime::gpu
