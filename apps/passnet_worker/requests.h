// Requests as they arrive, and replies as they leave: the structs of protocol/messages.h as JSON, and errors as refusals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/json/json_indirect.h"
#include "base/result.h"
#include "runtime/answer/answers.h"
#include "wire/frame.h"

namespace passnet::worker {

class Requests {
 public:
  /// started: how the runtime came up; an error is the answer to every request.
  /// REQUIRES: files can still be opened.
  Requests(runtime::Role role, Result<void> started, fx::Operators operators);

  /// Answers one message; never throws for what a peer, a graph or a pass can cause. Sets `*done` after
  /// "exit".
  std::string answer(wire::Message message, std::vector<UniqueFd>& fds, bool* done);

 private:
  /// The fields of a reply.
  Result<IndirectJson> dispatch(wire::Message message, std::vector<UniqueFd>& fds, bool* done);
  std::string refuse(protocol::Refusal refusal, bool* done) const;

  runtime::Role role_;
  Result<void> started_;
  std::optional<runtime::Answers> answers_;  // none where the runtime did not come up
};

}  // namespace passnet::worker
