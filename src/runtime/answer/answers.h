// The graphs of a worker, and its answers to the requests of protocol/messages.h. Free of torch.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"
#include "fx/syntax/parser.h"
#include "protocol/messages.h"

namespace c10 {
struct InferenceMode;
}

namespace passnet::runtime {

class LoadedGraph;

/// Package: a candidate that runs packages (runtime/plan/package.h), which it unpacks to files.
enum class Role { Reference, Candidate, Package };

template <class Request>
using Answered = Result<protocol::Answer<Request>>;

class Answers {
 public:
  /// While it lives, its thread computes no gradients. REQUIRES: start_runtime() succeeded, and files can still be opened.
  Answers(Role role, fx::Operators operators);
  ~Answers();

  /// Tells if a graph with kernels of passes is loaded.
  bool has_kernels() const;

  using Fds = std::vector<UniqueFd>;
  // Answers a request. fds: descriptors that came with it. Errors: of the functions of session/; BadInput for a request that
  // cannot be. Throws KernelFault.
  Answered<protocol::Hello> answer(const protocol::Hello& request, Fds& fds);
  Answered<protocol::Calibrate> answer(const protocol::Calibrate& request, Fds& fds);
  Answered<protocol::CheckTarget> answer(const protocol::CheckTarget& request, Fds& fds);
  Answered<protocol::Load> answer(const protocol::Load& request, Fds& fds);
  Answered<protocol::Inputs> answer(const protocol::Inputs& request, Fds& fds);
  Answered<protocol::SetInputs> answer(const protocol::SetInputs& request, Fds& fds);
  Answered<protocol::Rewind> answer(const protocol::Rewind& request, Fds& fds);
  Answered<protocol::Trace> answer(const protocol::Trace& request, Fds& fds);
  Answered<protocol::Infer> answer(const protocol::Infer& request, Fds& fds);
  Answered<protocol::Run> answer(const protocol::Run& request, Fds& fds);
  Answered<protocol::MakeRoom> answer(const protocol::MakeRoom& request, Fds& fds);
  Answered<protocol::Compare> answer(const protocol::Compare& request, Fds& fds);
  Answered<protocol::Judge> answer(const protocol::Judge& request, Fds& fds);
  Answered<protocol::DependsOn> answer(const protocol::DependsOn& request, Fds& fds);
  Answered<protocol::Time> answer(const protocol::Time& request, Fds& fds);
  Answered<protocol::ReadClocks> answer(const protocol::ReadClocks& request, Fds& fds);
  Answered<protocol::MakeCallSets> answer(const protocol::MakeCallSets& request, Fds& fds);
  Answered<protocol::RenewCallSets> answer(const protocol::RenewCallSets& request, Fds& fds);
  Answered<protocol::SetCallSets> answer(const protocol::SetCallSets& request, Fds& fds);
  Answered<protocol::TimeOnSets> answer(const protocol::TimeOnSets& request, Fds& fds);
  Answered<protocol::CompareCalls> answer(const protocol::CompareCalls& request, Fds& fds);
  Answered<protocol::Profile> answer(const protocol::Profile& request, Fds& fds);
  Answered<protocol::Unload> answer(const protocol::Unload& request, Fds& fds);
  Answered<protocol::Exit> answer(const protocol::Exit& request, Fds& fds);

 private:
  /// Errors: BadInput: no graph has this id.
  Result<LoadedGraph*> find_graph(const std::string& id) const;

  Role role_;
  fx::Operators operators_;
  std::string hardware_;
  bool own_namespaces_;
  std::unique_ptr<c10::InferenceMode> inference_;
  std::map<std::string, std::unique_ptr<LoadedGraph>> graphs_;
};

}  // namespace passnet::runtime
