// The requests of docs/protocol.md, answered.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/json_indirect.h"
#include "base/result.h"
#include "runtime/session/session.h"
#include "wire/frame.h"

namespace passnet::worker {

/// Package: a candidate that runs packages (runtime/plan/package.h), which it unpacks to files.
enum class Role { Reference, Candidate, Package };

/// A reply before it is framed: fields without "ok", and descriptors to send along.
struct Reply {
  IndirectJson fields = IndirectJson::object();
  std::vector<UniqueFd> fds;
};

/// The worker's graphs by id, and the answer to each request.
class Requests {
 public:
  /// started: how the runtime came up; an error is the answer to every request.
  /// REQUIRES: files can still be opened.
  Requests(Role role, Result<void> started, fx::Operators operators);

  /// Answers one message; never throws for what a peer, a graph or a pass can cause. Sets `*done` after
  /// "exit".
  std::string answer(wire::Message message, std::vector<UniqueFd>& fds, bool* done);

 private:
  /// An error before it is a reply.
  struct Refusal {
    std::string kind, message;
    std::optional<SourceLoc> at;
    std::string hint;
    bool ends_worker = false;
    std::string launch = {};  // of a kernel's fault
    std::optional<runtime::KernelFault::Code> code = {};
  };
  std::string refuse(Refusal refusal, bool* done) const;
  bool has_kernels() const;

  using Handler = Result<Reply> (Requests::*)(const Json& request, std::vector<UniqueFd>& fds);
  struct Row {
    const char* name;
    Handler handler;
    bool reference_only;
    bool is_timed = false;
  };
  static const Row kRows[];

  Result<Reply> dispatch(wire::Message message, bool* done);
  Result<runtime::Session*> session(const std::string& id);

  Result<Reply> hello(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> check_target(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> calibrate(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> load(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> inputs(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> set_inputs(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> rewind(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> trace(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> infer(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> make_room(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> run(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> compare(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> time(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> read_clocks(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> make_call_sets(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> renew_call_sets(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> set_call_sets(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> time_on_sets(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> judge(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> depends_on(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> compare_calls(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> profile(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> unload(const Json& request, std::vector<UniqueFd>& fds);
  Result<Reply> exit(const Json& request, std::vector<UniqueFd>& fds);

  Role role_;
  Result<void> started_;
  fx::Operators operators_;
  std::string hardware_;
  bool own_namespaces_;
  std::map<std::string, runtime::Session> sessions_;
};

}  // namespace passnet::worker
