#include "http/server.h"

#include <fmt/format.h>
#include <malloc.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "http/connection.h"
#include "http/workers.h"

namespace passnet::http {

namespace {

using State = Connection::State;
constexpr int kTickMs = 100;
constexpr int kBacklog = 1024;  // that the system may hold

/// What malloc keeps of what was freed is taken for the server's: little, whatever one request needed.
void give_memory_back() {
  ::mallopt(M_MMAP_THRESHOLD, 128 << 10);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 20);
  ::mallopt(M_ARENA_MAX, 4);
}

struct Listener {
  UniqueFd socket;
  int port = 0;
  bool on_loopback = true;
};

int port_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

/// "127.0.0.1": all of a client's connections, whatever their ports.
std::string address_text(const sockaddr_storage& address, socklen_t size) {
  std::array<char, NI_MAXHOST> host{};
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  const bool known = ::getnameinfo(generic, size, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) == 0;
  return known ? host.data() : "?";
}

bool is_loopback(const std::string& address) { return address.starts_with("127.") || address == "::1"; }

std::optional<Listener> listen_at(const addrinfo& address) {
  Listener listener{
      UniqueFd(::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol))};
  const int yes = 1;
  // Not SO_REUSEPORT: two servers would take each other's requests.
  if (!listener.socket || ::setsockopt(listener.socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      ::bind(listener.socket.get(), address.ai_addr, address.ai_addrlen) != 0 ||
      ::listen(listener.socket.get(), kBacklog) != 0)
    return std::nullopt;
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(listener.socket.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) return std::nullopt;
  listener.port = port_of(bound);
  listener.on_loopback = is_loopback(address_text(bound, size));
  return listener;
}

Result<Listener> listen_as(const ServerOptions& options) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(options.host.c_str(), std::to_string(options.port).c_str(), &hints, &found) == 0) {
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, &::freeaddrinfo);
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
      if (std::optional<Listener> listener = listen_at(*one)) return std::move(*listener);
    }
  }
  return resource_error(fmt::format("cannot listen at {}:{}", options.host, options.port))
      .with_hint("give --listen another port, or 0 for any that is free");
}

class Server {
 public:
  Server(const ServerOptions& options, const std::vector<Route>& routes, Listener listener, Answers& answers)
      : options_(options),
        limits_(options.limits),
        routes_(routes),
        listener_(std::move(listener)),
        answers_(answers),
        workers_(options.threads, answers),
        quick_(1, answers) {}

  void serve(const std::atomic<bool>& stop) {
    while (!stop || is_answering()) {
      wait(stop);
      take_answers();
      ask_later(stop);
      ask_streams();
      for (auto& [id, one] : connections_) one->check_time(Connection::Clock::now());
      give_room();
      if (!stop) dispatch();
      std::erase_if(connections_, [](const auto& one) { return one.second->state() == State::Over; });
      if (!stop) accept();
    }
  }

 private:
  bool is_answering() const {
    return std::ranges::any_of(connections_, [](const auto& one) {
      return one.second->state() == State::Answered || one.second->state() == State::Writing;
    });
  }

  /// For anything to happen; reads and writes what can be.
  void wait(bool stopping) {
    std::vector<pollfd> polled{{answers_.descriptor(), POLLIN, 0}};
    const bool accepts = !stopping && (connections_.size() < limits_.connections || oldest_idle("") != nullptr);
    polled.push_back({accepts ? listener_.socket.get() : -1, POLLIN, 0});
    std::vector<Connection*> of;
    for (auto& [id, one] : connections_) {
      const bool reads = one->wants_to_read() && (!stopping || one->state() == State::Draining);
      const auto events = static_cast<short>((reads ? POLLIN : 0) | (one->wants_to_write() ? POLLOUT : 0));
      if (events == 0) continue;  // its end would wake this again and again
      polled.push_back({one->descriptor(), events, 0});
      of.push_back(one.get());
    }
    if (::poll(polled.data(), polled.size(), kTickMs) <= 0) return;
    for (size_t i = 0; i < of.size(); ++i) {
      const pollfd& one = polled[i + 2];
      if (one.revents == 0) continue;
      if (of[i]->wants_to_write())
        of[i]->write();
      else
        of[i]->read();
    }
  }

  void accept() {
    while (connections_.size() < limits_.connections || close_idle("")) {
      sockaddr_storage address{};
      socklen_t size = sizeof address;
      UniqueFd socket(::accept4(listener_.socket.get(), reinterpret_cast<sockaddr*>(&address), &size,
                                SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket) return;
      const int yes = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      const std::string client = address_text(address, size);
      const auto is_theirs = [&](const auto& one) { return one.second->client() == client; };
      const auto theirs = static_cast<size_t>(std::ranges::count_if(connections_, is_theirs));
      const bool has_room = theirs < limits_.connections_per_client || close_idle(client);
      auto connection = std::make_unique<Connection>(std::move(socket), client, options_, listener_.on_loopback);
      if (!has_room) connection->refuse(503, "too many connections of this address; try again");
      connections_.emplace(next_++, std::move(connection));
    }
  }

  /// Of that client; empty: of all. Null: none.
  Connection* oldest_idle(const std::string& client) const {
    Connection* oldest = nullptr;
    for (const auto& [id, one] : connections_) {
      if (one->is_idle() && (client.empty() || one->client() == client) &&
          (oldest == nullptr || one->since() < oldest->since()))
        oldest = one.get();
    }
    return oldest;
  }

  bool close_idle(const std::string& client) {
    Connection* const idle = oldest_idle(client);
    if (idle == nullptr) return false;
    return std::erase_if(connections_, [&](const auto& one) { return one.second.get() == idle; }) > 0;
  }

  /// First come, first served.
  void give_room() {
    size_t all = 0;
    std::map<std::string, size_t> by_client;
    for (const auto& [id, one] : connections_) {
      all += one->reserved_bytes();
      by_client[one->client()] += one->reserved_bytes();
    }
    std::vector<Connection*> waiting;
    for (const auto& [id, one] : connections_) {
      if (one->state() == State::Room) waiting.push_back(one.get());
    }
    std::ranges::sort(waiting, {}, &Connection::since);
    for (Connection* one : waiting) {
      const size_t bytes = one->head().body_bytes;
      size_t& of_client = by_client[one->client()];
      if (of_client + bytes > limits_.body_bytes_per_client) continue;
      if (all + bytes > limits_.all_body_bytes) break;
      all += bytes;
      of_client += bytes;
      one->give_room();
    }
  }

  void dispatch() {
    size_t unsent = 0;
    for (const auto& [id, one] : connections_) unsent += one->unsent_bytes();
    if (unsent > limits_.unsent_bytes) return;
    for (auto& [id, one] : connections_) {
      if (one->state() != State::Ready) continue;
      const Head& head = one->head();
      const Route* const route = route_of(head);
      ServerRequest request{one->take_request(), head.query, {}, head.client.empty() ? one->client() : head.client};
      if (route == nullptr) {
        one->answer({404, ""});
        continue;
      }
      request.rest = head.path.substr(route->path.size());
      (route->method == Route::Method::Post ? workers_ : quick_).add({id, route, std::move(request)});
    }
  }

  const Route* route_of(const Head& head) const {
    const auto method = [](const Route& one) {
      return one.method == Route::Method::Get ? "GET" : one.method == Route::Method::Post ? "POST" : "DELETE";
    };
    const auto found = std::ranges::find_if(routes_, [&](const Route& one) {
      const bool fits = one.path.ends_with('/') ? head.path.starts_with(one.path) : head.path == one.path;
      return fits && head.method == method(one);
    });
    return found == routes_.end() ? nullptr : &*found;
  }

  void take_answers() {
    for (Done& done : answers_.take()) {
      if (done.reply.later)
        later_.emplace(done.connection, std::move(done.reply.later));
      else
        answer(done.connection, std::move(done.reply));
    }
  }

  void answer(uint64_t connection, Reply reply) {
    const auto found = connections_.find(connection);
    if (found == connections_.end()) return;
    if (!reply.stream) return found->second->answer(std::move(reply));
    found->second->begin_stream(reply.type);
    streams_.emplace(connection, std::move(reply.stream));
  }

  void ask_streams() {
    std::erase_if(streams_, [&](const auto& one) {
      const auto found = connections_.find(one.first);
      if (found == connections_.end()) return true;
      found->second->add(one.second());
      return false;
    });
  }

  void ask_later(bool stopping) {
    std::erase_if(later_, [&](const auto& one) {
      std::optional<Reply> reply = one.second();
      if (!reply && stopping) reply = Reply{503, "{\"error\":\"the service ends; ask again when it is back\"}\n"};
      if (reply) answer(one.first, std::move(*reply));
      return reply.has_value();
    });
  }

  const ServerOptions& options_;
  const ServerLimits& limits_;
  const std::vector<Route>& routes_;
  const Listener listener_;
  Answers& answers_;
  std::map<uint64_t, std::unique_ptr<Connection>> connections_;
  std::map<uint64_t, std::function<std::optional<Reply>()>> later_;  // by connection
  std::map<uint64_t, std::function<std::string()>> streams_;
  uint64_t next_ = 0;
  Workers workers_, quick_;
};

}  // namespace

Result<void> serve(const ServerOptions& options, const std::vector<Route>& routes,
                   const std::function<void(int port)>& listening, const std::atomic<bool>& stop) {
  give_memory_back();
  PASSNET_TRY(Listener listener, listen_as(options));
  if (!listener.on_loopback && options.tokens.empty()) {
    return bad_input(
               fmt::format("{}:{} can be reached from other machines, expected tokens", options.host, options.port))
        .with_hint("--token-file FILE, or --listen 127.0.0.1:PORT for this machine alone");
  }
  PASSNET_TRY(const std::unique_ptr<Answers> answers, Answers::make());
  const int port = listener.port;
  Server server(options, routes, std::move(listener), *answers);
  listening(port);
  server.serve(stop);
  return {};
}

}  // namespace passnet::http
