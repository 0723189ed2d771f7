// The messages between the workers of a queue and its server (queue_server.h). Heavy: include it in .cpp files only.
#pragma once

#include <string>

#include "base/json/json_object.h"
#include "cluster/work_queue.h"

namespace passnet::cluster {

struct NextRequest {
  std::string worker;
  bool forever = false;
};
struct NextReply {
  std::string claim, text;
  bool has_result = false, ended = false;
};
struct ClaimRequest {
  std::string claim;
};
struct HeldReply {
  bool held = false;
};
struct SettleRequest {
  std::string claim;
  int outcome = 0;  // as its place in Outcome
};

}  // namespace passnet::cluster

namespace passnet {

PASSNET_JSON_FIELDS(cluster::NextRequest, "a request for an item", PASSNET_FIELDS(worker, forever))
PASSNET_JSON_FIELDS(cluster::NextReply, "the next item", PASSNET_FIELDS(claim, text, has_result, ended))
PASSNET_JSON_FIELDS(cluster::ClaimRequest, "a claim", PASSNET_FIELDS(claim))
PASSNET_JSON_FIELDS(cluster::HeldReply, "a heartbeat", PASSNET_FIELDS(held))
PASSNET_JSON_FIELDS(cluster::SettleRequest, "an outcome", PASSNET_FIELDS(claim, outcome))
PASSNET_JSON_FIELDS(cluster::Settled, "a settled item", PASSNET_FIELDS(held, published, work))

}  // namespace passnet
