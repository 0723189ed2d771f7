#include "agent/mcp/session.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/chat/json_access.h"

namespace passnet::agent {

McpSession::McpSession(const McpOffer& offer, std::function<void(const std::string&)> write,
                       std::chrono::milliseconds every)
    : offer_(offer), write_(std::move(write)), every_(every) {
  worker_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

McpSession::~McpSession() {
  const std::lock_guard lock(mutex_);
  for (const auto& call : calls_) call->cancelled = true;
  worker_.request_stop();
}

void McpSession::take(const std::string& line) {
  const Json message = read_json(line);
  const std::string method = text_of(member(message, "method"));
  const Json& parameters = member(message, "params");
  if (method == "notifications/cancelled") return cancel(compact(member(parameters, "requestId")));
  const bool is_call = method == "tools/call" && message.contains("id");
  if (!is_call && !message.is_array()) {
    if (const std::optional<std::string> answer = answer_mcp(offer_, line)) write(*answer);
    return;
  }
  auto call = std::make_unique<Call>();
  call->id = compact(member(message, "id"));
  call->line = line;
  call->token = member(member(parameters, "_meta"), "progressToken");
  const std::lock_guard lock(mutex_);
  calls_.push_back(std::move(call));
  changed_.notify_all();
}

void McpSession::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return calls_.empty(); });
}

void McpSession::cancel(const std::string& id) {
  const std::lock_guard lock(mutex_);
  for (const auto& call : calls_) {
    if (call->id == id) call->cancelled = true;
  }
}

void McpSession::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !calls_.empty(); })) {
    const Call& call = *calls_.front();
    lock.unlock();
    if (!call.cancelled) make(call);
    lock.lock();
    calls_.pop_front();
    changed_.notify_all();
  }
}

void McpSession::make(const Call& call) {
  std::optional<std::string> answer;
  {
    const std::jthread telling([&](const std::stop_token& stop) {
      if (!call.token->is_null()) tell_progress(call, stop);
    });
    answer = answer_mcp(offer_, call.line, &call.cancelled);
  }
  if (answer && !call.cancelled) write(*answer);
}

/// Clients wait longer for a call that goes on. progress: seconds, of an end that nobody knows.
void McpSession::tell_progress(const Call& call, const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  do {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const Json parameters{
        {"progressToken", *call.token}, {"progress", seconds}, {"message", "waits for the machine, or is evaluated"}};
    write(dump(Json{{"jsonrpc", "2.0"}, {"method", "notifications/progress"}, {"params", parameters}}));
    never.wait_for(lock, stop, every_, [] { return false; });
  } while (!stop.stop_requested() && !call.cancelled);
}

void McpSession::write(const std::string& line) {
  const std::lock_guard lock(write_mutex_);
  write_(line);
}

}  // namespace passnet::agent
