// A queue over HTTP: routes that call its functions for workers without its directory. All are POST with JSON both ways.
//
//   /queue/rules   {}                  queue.json
//   /queue/next    {worker, forever}   {claim, text, has_result, ended}; claim: KEY~N@WORKER, empty: none
//   /queue/renew   {claim}             {held}
//   /queue/files   a line {claim}, then a piece of files (file_pieces.h): {held}; is a heartbeat, too
//   /queue/settle  {claim, outcome}    {held, published, work}
//   /queue/status  GET                 as `passnet queue status --json`
#pragma once

#include <vector>

#include "cluster/queue.h"
#include "http/server.h"

namespace passnet::cluster {

/// queue: must outlive the routes. A client with a token may settle the claims of all workers.
std::vector<http::Route> queue_routes(Queue& queue);

}  // namespace passnet::cluster
