// Requests to a worker by the structs of protocol/messages.h.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/messages.h"
#include "run/worker/worker.h"

namespace passnet::run {

/// The error "nonsense": a worker's answer does not hold what it must.
Error nonsense(const std::string& what, const std::string& why);

template <class Request>
Result<protocol::Answer<Request>> read_answer(Reply reply) {
  Result<typename Request::Reply> fields = protocol::from_json<typename Request::Reply>(*reply.json);
  if (!fields) return nonsense(Request::kRequest.name, fields.error().message);
  return protocol::Answer<Request>{std::move(*fields), std::move(reply.fds)};
}

/// Sends a request and reads its reply. Errors: as Worker::ask(), and "nonsense".
template <class Request>
Result<protocol::Answer<Request>> ask(Worker& worker, const Request& request, std::chrono::milliseconds timeout,
                                      const std::vector<int>& fds = {}) {
  PASSNET_TRY(Reply reply, worker.ask(protocol::to_json(request), fds, timeout));
  return read_answer<Request>(std::move(reply));
}

/// Takes the bundle in the field `key` of a reply and the descriptor that came with it. A reply that lies about it is
/// "nonsense".
Result<Bundle> take_bundle(const char* key, const std::optional<IndirectJson>& entries, std::vector<UniqueFd>& fds);

}  // namespace passnet::run
