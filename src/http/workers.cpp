#include "http/workers.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "http/request.h"

namespace passnet::http {

namespace {

Reply answer_job(Job& job) {
  if (job.route->takes_json && !has_few_json_values(job.request.body)) {
    return {413, "{\"error\":\"the body is too large: expected at most " + std::to_string(kMostJsonValues) +
                     " values of JSON\"}\n"};
  }
  Reply reply = job.route->answer(job.request);
  job.request = {};
  return reply;
}

}  // namespace

Result<std::unique_ptr<Answers>> Answers::make() {
  auto answers = std::make_unique<Answers>();
  answers->event_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!answers->event_) return io_error("make", "an eventfd", errno);
  return answers;
}

void Answers::add(Done done) {
  const std::lock_guard lock(mutex_);
  done_.push_back(std::move(done));
  const uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof one);
}

std::vector<Done> Answers::take() {
  const std::lock_guard lock(mutex_);
  uint64_t count = 0;
  (void)!::read(event_.get(), &count, sizeof count);
  return std::exchange(done_, {});
}

Workers::Workers(int threads, Answers& answers) : answers_(answers) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

void Workers::add(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void Workers::work(const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [&] { return !jobs_.empty(); })) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    const uint64_t connection = job.connection;
    answers_.add({connection, answer_job(job)});
  }
}

}  // namespace passnet::http
