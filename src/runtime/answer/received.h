// Tensors that come with a request. Free of torch.
#pragma once

#include <vector>

#include "base/file/file.h"
#include "base/json/json.h"
#include "base/result.h"
#include "runtime/tensor/shared_tensors.h"
#include "wire/bundle.h"

namespace passnet::runtime {

struct ReceivedBundle {
  std::vector<wire::Entry> entries;
  wire::Mapping memory;
  UniqueFd fd;
};

/// Maps a BUNDLE, whose descriptor is the only one of the request. Errors: BadInput, Io.
Result<ReceivedBundle> receive_bundle(const Json& tensors, std::vector<UniqueFd>& fds);

/// Takes what another worker's calls gave. in_room: the tensors lie in a room that the graph knows, and no descriptor
/// comes with them. Errors: BadInput.
Result<SharedTensors> receive_tensors(const Json& tensors, bool in_room, std::vector<UniqueFd>& fds);

}  // namespace passnet::runtime
