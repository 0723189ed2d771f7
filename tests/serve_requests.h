// The other end of a worker's socket, for stand-ins of workers that tests script.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "wire/bundle.h"
#include "wire/frame.h"

namespace passnet {

/// Answers requests on descriptor 3, where a worker has its socket, with answer(request) (JSON to JSON) until "exit",
/// until the peer is gone, or after a reply with "ends_worker". Replies that tell of tensors get 64 bytes of shared
/// memory to go with them. Returns the exit code.
template <class Answer>
int serve_requests(Answer&& answer) {
  constexpr int kSocket = 3;
  const Result<UniqueFd> memory = wire::create_memory("tensors", 64);
  if (!memory) return 1;
  for (;;) {
    const Result<wire::Message> message = wire::receive_message(kSocket, std::chrono::seconds(60));
    if (!message) return 0;
    const Json request = try_parse_json(message->json);
    if (request.at("do") == "exit") return 0;
    const Json reply = answer(request);
    const bool tensors = reply.contains("tensors") || (reply.contains("outputs") && !reply.contains("compared"));
    if (!wire::send_message(kSocket, reply.dump(), tensors ? std::vector<int>{memory->get()} : std::vector<int>{}))
      return 0;
    if (reply.contains("ends_worker")) return 0;
  }
}

/// The answer to "compare" about one output of that type and shape. difference: largest absolute one; may be "nan".
inline Json compared_output(const char* dtype, const Json& shape, bool equal, int passes_from, const Json& difference) {
  return {{"ok", true},
          {"compared", 1},
          {"inputs", Json::object()},
          {"outputs",
           {{{"expected_dtype", dtype},
             {"found_dtype", dtype},
             {"expected_shape", shape},
             {"found_shape", shape},
             {"equal", equal},
             {"passes_from", passes_from},
             {"max_abs_diff", difference},
             {"mean_abs_diff", 0},
             {"max_rel_diff", 0}}}}};
}

}  // namespace passnet
