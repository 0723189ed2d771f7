#include "http/post.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <memory>
#include <optional>

#include "base/text/strings.h"

namespace passnet::http {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// What the callbacks of one transfer see.
struct Transfer {
  const Limits& limits;
  const std::function<Result<void>(std::string_view)>& on_data;
  const std::atomic<bool>* stop;
  CURL* handle = nullptr;
  Answer answer = {};
  size_t received = 0;
  Clock::time_point last_byte = Clock::now();
  std::optional<Error> failure = {};  // why a callback ended it

  bool streams() {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return on_data && status == 200;
  }
};

size_t take_body(char* data, size_t size, size_t count, void* context) {
  Transfer& transfer = *static_cast<Transfer*>(context);
  const size_t bytes = size * count;
  transfer.last_byte = Clock::now();
  transfer.received += bytes;
  if (transfer.received > transfer.limits.max_bytes) {
    transfer.failure = resource_error(fmt::format("the server's answer is too large: found more than {}, expected less",
                                                  bytes_text(static_cast<double>(transfer.limits.max_bytes))))
                           .with_failure("too-large");
    return 0;
  }
  if (!transfer.streams()) {
    transfer.answer.body.append(data, bytes);
    return bytes;
  }
  if (Result<void> used = transfer.on_data({data, bytes}); !used) {
    transfer.failure = std::move(used).error();
    return 0;
  }
  return bytes;
}

size_t take_header(char* data, size_t size, size_t count, void* context) {
  Transfer& transfer = *static_cast<Transfer*>(context);
  transfer.last_byte = Clock::now();
  constexpr std::string_view kName = "retry-after:";
  const std::string_view line(data, size * count);
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  if (line.size() > kName.size() &&
      std::equal(kName.begin(), kName.end(), line.begin(), [&](char b, char a) { return same(a, b); }))
    transfer.answer.retry_after = std::string(trim(line.substr(kName.size())));
  return size * count;
}

int look_around(void* context, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  Transfer& transfer = *static_cast<Transfer*>(context);
  if (transfer.stop != nullptr && *transfer.stop) {
    transfer.failure = resource_error("interrupted");
    return 1;
  }
  if (seconds_since(transfer.last_byte) > transfer.limits.idle_s) {
    transfer.failure = resource_error(fmt::format("the server sent nothing for {:g} s", transfer.limits.idle_s))
                           .with_failure("timeout");
    return 1;
  }
  return 0;
}

Error error_of(CURLcode code, const Request& request, const Limits& limits, const char* detail) {
  // Of the URL the host alone: people put keys into what follows.
  const std::string shown = quoted(request.url.substr(0, request.url.find('?')), 120);
  if (code == CURLE_OPERATION_TIMEDOUT)
    return resource_error(
               fmt::format("{}: no answer within {:g} s (connecting: {:g} s)", shown, limits.whole_s, limits.connect_s))
        .with_failure("timeout");
  if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL)
    return bad_input(fmt::format("expected http://… or https://…, found {}", shown));
  const std::string why = *detail != '\0' ? detail : curl_easy_strerror(code);
  return resource_error(fmt::format("{}: {}", shown, why))
      .with_hint("is the server up, and is this its URL?")
      .with_failure("connection");
}

long milliseconds(double seconds) { return static_cast<long>(std::max(seconds, 0.001) * 1000); }

struct FreeHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct FreeTransfers {
  void operator()(CURLM* transfers) const { curl_multi_cleanup(transfers); }
};

/// Calls look_around() ten times a second. curl_easy_perform() does so once, while nothing comes.
CURLcode perform(CURL* handle) {
  constexpr int kEveryMs = 100;
  const std::unique_ptr<CURLM, FreeTransfers> transfers(curl_multi_init());
  if (!transfers || curl_multi_add_handle(transfers.get(), handle) != CURLM_OK) return CURLE_OUT_OF_MEMORY;
  int running = 1;
  while (curl_multi_perform(transfers.get(), &running) == CURLM_OK && running > 0)
    curl_multi_poll(transfers.get(), nullptr, 0, kEveryMs, nullptr);
  int left = 0;
  const CURLMsg* const ended = curl_multi_info_read(transfers.get(), &left);
  const CURLcode code = ended != nullptr ? ended->data.result : CURLE_OUT_OF_MEMORY;
  curl_multi_remove_handle(transfers.get(), handle);
  return code;
}

}  // namespace

Result<Answer> post(const Request& request, const Limits& limits,
                    const std::function<Result<void>(std::string_view)>& on_data, const std::atomic<bool>* stop) {
  // Once in the process, before any handle; the library is never unloaded.
  static const CURLcode kStarted = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, FreeHandle> handle(curl_easy_init());
  if (kStarted != CURLE_OK || !handle) return resource_error("libcurl cannot be started");
  std::unique_ptr<curl_slist, FreeList> headers(curl_slist_append(nullptr, "Content-Type: application/json"));
  // Large bodies are sent at once, not after a second of waiting for "100 Continue".
  headers.reset(curl_slist_append(headers.release(), "Expect:"));
  for (const std::string& header : request.headers) headers.reset(curl_slist_append(headers.release(), header.c_str()));
  Transfer transfer{limits, on_data, stop, handle.get()};
  char detail[CURL_ERROR_SIZE] = "";
  const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(handle.get(), option, value); };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTPHEADER, headers.get());
  set(CURLOPT_POSTFIELDS, request.body.c_str());
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  set(CURLOPT_ERRORBUFFER, detail);
  set(CURLOPT_NOSIGNAL, 1L);  // threads
  set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(limits.connect_s));
  set(CURLOPT_TIMEOUT_MS, milliseconds(limits.whole_s));
  set(CURLOPT_WRITEFUNCTION, take_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  set(CURLOPT_HEADERFUNCTION, take_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, look_around);
  set(CURLOPT_XFERINFODATA, static_cast<void*>(&transfer));
  set(CURLOPT_USERAGENT, "passnet");
  const CURLcode code = perform(handle.get());
  if (transfer.failure) return std::move(*transfer.failure);
  if (code != CURLE_OK) return error_of(code, request, limits, detail);
  long status = 0;
  curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
  transfer.answer.status = static_cast<int>(status);
  return std::move(transfer.answer);
}

}  // namespace passnet::http
