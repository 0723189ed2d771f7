// What passes are worth, for trainers: an answer of a model in, its reward and verdict out.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/serve/http_server.h"
#include "agent/tools/tool.h"
#include "graphdir/sample.h"

namespace passnet::agent {

/// A task that answers may be for.
struct RewardTask {
  graphdir::Sample sample;
  std::string prompt;  // what a model is told of it
};

struct RewardServices {
  /// Called by several threads. Errors: Resource: the machine's, or interrupted.
  std::function<Result<Records>(const graphdir::Sample& task)> evaluate;
  int at_once = 1;  // that many do not wait for each other
};

class RewardService {
 public:
  /// Names of tasks differ.
  RewardService(std::vector<RewardTask> tasks, RewardServices services);

  /// GET /health, GET /tasks, POST /reward, POST /rewards (docs/agent.md). They must not outlive this.
  std::vector<HttpRoute> routes() const;

 private:
  const graphdir::Sample* find(const std::string& task) const;
  HttpReply answer(const std::string& body, bool several) const;
  Result<Json> judge(const Json& item) const;
  /// In order. Errors: the first, with the number of its item.
  Result<Json> judge_all(const Json& items) const;

  std::vector<RewardTask> tasks_;
  RewardServices services_;
};

/// What an answer without a file is worth: as much as a pass that is wrong everywhere.
inline constexpr double kNoAnswer = 0.1;

}  // namespace passnet::agent
