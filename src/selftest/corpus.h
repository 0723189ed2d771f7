// The corpus of tests/adversarial: passes that try to get a score that they have not earned, and honest ones, each with
// what must become of it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file/temporary_directory.h"
#include "base/result.h"
#include "graphdir/sample.h"
#include "run/evaluate/layers.h"

namespace passnet::selftest {

/// A pass_dir and what must become of it: a block of a family file, or a directory with pass_dir and expect.json.
struct Bundle {
  std::string name;                  // "stale_noop", "controls/slow"
  graphdir::Sample sample;           // its passes with the graph that they are tried on
  std::vector<int> rows;             // of the catalogue of attacks
  std::string what;                  // the mechanism, in a sentence
  std::vector<std::string> verdict;  // of record::verdict_named: it must have one
  std::string reason;  // what its record's error must hold, so that it is caught for what it is; may be empty
  std::vector<run::Layer> layers;  // that catch it, the first one first; none of a control
  bool on_gpu = false;             // its kernels are for a GPU
  double timeout_s = 0;            // for one request, where the bundle is one that hangs; 0: the usual
  bool allow_library = false;      // its plan may call PyTorch
  bool in_python = false;          // its host code is run by Python; what is right is then unranked
  std::shared_ptr<const TemporaryDirectory> expanded;  // holds the files of what was text; may be null
  bool is_control() const;
};

/// --corpus, or else tests/adversarial above the binary or in the tree that it was built from. A corpus has graphs.txt or
/// a directory graphs.
/// Errors: Resource: there is none.
Result<std::filesystem::path> find_corpus(const std::filesystem::path& given);

/// Bundles of `corpus` for a GPU, or for the CPU, in the order of their names; only: those whose names contain one of
/// these texts. Its files NAME.txt are families (family_file.h), but graphs.txt holds graphs (graphs_file.h). Bundles and
/// graphs may also be directories: those with an expect.json in it and in gpu/, controls/ and controls/gpu/, and
/// graphs/NAME.
/// Errors: Io; BadInput: a family, graphs.txt or an expect.json that does not hold together, two bundles of one name, a
/// word, a layer or a graph that does not exist, a name in `only` that no bundle has.
Result<std::vector<Bundle>> load_corpus(const std::filesystem::path& corpus, bool on_gpu,
                                        const std::vector<std::string>& only);

/// What is told of a sample that gets a score.
bool is_score(const std::string& headline);
/// Returns: true when an attack with this headline got through: it scores. One in Python never does; it raises an error
/// where all that it tries is refused, so it got through when it is right.
bool is_through(const Bundle& bundle, const std::string& headline);

}  // namespace passnet::selftest
