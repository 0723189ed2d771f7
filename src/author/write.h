// A part of a graph as a pass: pattern, plan and kernels for the CPU and CUDA, fused.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "author/define/ways.h"
#include "author/explain.h"
#include "author/subject/subject.h"
#include "author/text/plan/python_text.h"
#include "author/text/plan/schedule.h"
#include "author/text/plan/shape.h"
#include "base/result.h"
#include "pass/template.h"

namespace passnet::author {

/// The choices by which passes are written. Where there is more than one way measuring tells which is the faster one
/// (author/forms/forms.h).
struct WriteOptions {
  bool products = true;  // products and convolutions as loops, where these are short; false: all are left to PyTorch
  InTiles tiles = InTiles::None;  // and where they are long
  Library library = Library::None;
  bool once = false;                 // what many elements of another value are made of is stored where it takes long
  std::string name = {};             // passes are called NAME, NAME_2, …; empty: by what they compute
  std::set<std::string> taken = {};  // names that no pass gets
  /// The operators that passes may take, first and one past the last, counted from 0 in the order of the graph; none: all.
  std::optional<std::pair<size_t, size_t>> range = {};
  std::map<std::string, Schedule> schedules = {};  // by pass; of the others the default
};

struct Written {
  std::string name;       // of the pass
  PythonText python;      // Name.py
  std::string cpp, cuda;  // Name.cpp, Name.cu
  size_t operators = 0;   // of the graph, views among them
  size_t computing = 0;   // of these, those that PyTorch computes something for
  size_t products = 0;    // of these, products and convolutions that kernels compute
  size_t kernels = 0;
  /// The nodes that it stands for, of the graph that it was written from, and of each equal part of that graph.
  std::vector<std::vector<ir::NodeId>> places;
  std::vector<std::string> calls;  // operators that the plan calls PyTorch for: "torch.conv2d"
  /// Read and written in the first graph: by PyTorch's operators, each on its own, and by the kernels and calls. What is read from a
  /// part of a tensor counts as all of it.
  int64_t bytes_before = 0, bytes_after = 0;
  Explained explained;
  std::vector<KernelShape> shapes;  // of its kernels
  size_t launches() const { return kernels + calls.size(); }
  /// The same in the first graph: where several share a row, one kernel stands for more.
  size_t launches(bool on_gpu) const;
  Saving saving() const { return {computing, launches(), bytes_before, bytes_after}; }
};

struct NotWritten {
  std::string statement;  // "tmp_3 = torch.conv3d(…)"
  std::string why;
  std::vector<std::string> graphs;  // that it stands in
  /// Those of these graphs in which it lies otherwise in memory than in the first: on their own it may be written for
  /// them.
  std::vector<std::string> lying_otherwise = {};
};

struct Authored {
  std::vector<Written> passes;
  std::vector<NotWritten> left;
};

/// A pass for each connected part of the graph that kernels can be written for; parts that are equal have one. Their names
/// are none of `names`, which grows. The graph's pool of arguments may grow.
Authored write_passes(Subject& subject, const WriteOptions& options, std::set<std::string>& names);

/// Passes for all graphs: of each structure its own; graphs in which a conversion is none have their own where that is in the way.
Authored write_all(std::vector<Example> examples, const WriteOptions& options = {});

/// The files of all passes.
std::vector<pass::PassTexts> texts_of(const Authored& authored);

}  // namespace passnet::author
