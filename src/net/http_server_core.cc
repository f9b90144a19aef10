#include "net/http_server_core.h"

#include <algorithm>

#include "net/asio_loop.h"
#include "net/http_connection.h"

namespace relay::net {
namespace {

constexpr std::size_t kMaxRefused = 64;  // clients over the limit that get a 503; others are closed without a response

}  // namespace

HttpServerCore::HttpServerCore(AsioLoop& loop, const HttpServerLimits& limits, HttpServer::Handler handler)
    : loop_{loop}, limits_{limits}, handler_{std::move(handler)} {}

SteadyTime HttpServerCore::now() const { return loop_.now().steady; }

void HttpServerCore::add(UniqueFd socket, HttpPeer peer) {
  if (closing_ || connections_.size() >= limits_.connections + kMaxRefused) return;
  const bool untrusted = is_untrusted(peer);
  if (untrusted && untrusted_ >= limits_.untrusted + kMaxRefused) return;
  const bool refused = connections_.size() >= limits_.connections || (untrusted && untrusted_ >= limits_.untrusted);
  if (untrusted) ++untrusted_;
  const auto connection = std::make_shared<HttpConnection>(*this, std::move(socket), std::move(peer));
  connections_.emplace(connection.get(), connection);
  if (refused)
    connection->refuse(
        error_response(503, "TOO_MANY_CONNECTIONS", "too many connections are open; close some and try again"));
  else
    connection->start();
}

void HttpServerCore::forget(const HttpConnection& connection) {
  if (is_untrusted(connection.peer())) --untrusted_;
  connections_.erase(&connection);
  notify_when_empty();
}

void HttpServerCore::mark_dirty(std::shared_ptr<HttpConnection> connection) {
  dirty_.push_back(std::move(connection));
  if (dirty_.size() > 1) return;
  loop_.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->flush_all();
  });
}

void HttpServerCore::flush_all() {
  // Writes caused by a flush (a drained stream writes again) belong to the next turn.
  const auto batch = std::exchange(dirty_, {});
  for (const auto& connection : batch) connection->flush();
}

void HttpServerCore::wait_until(SteadyTime deadline) {
  const auto when = std::max(deadline, now() + limits_.tick);
  if (when < armed_) arm(when);
}

void HttpServerCore::arm(SteadyTime when) {
  armed_ = when;
  timer_ = when == SteadyTime::max() ? nullptr : loop_.at(when, [this] { on_timer(); });
}

void HttpServerCore::on_timer() {
  const auto self = shared_from_this();  // a listener may destroy the server
  armed_ = SteadyTime::max();
  const auto time = now();
  for (const auto& connection : all())
    if (connection->deadline() <= time) connection->on_deadline(time);
  auto earliest = SteadyTime::max();
  for (const auto& [_, connection] : connections_) earliest = std::min(earliest, connection->deadline());
  if (earliest != SteadyTime::max()) wait_until(earliest);
}

void HttpServerCore::close(std::move_only_function<void()> done) {
  closing_ = true;
  done_ = std::move(done);
  abort_timer_ = loop_.after(limits_.linger, [this] {
    for (const auto& connection : all()) connection->abort("the server is closing");
  });
  for (const auto& connection : all()) connection->close_after_response();
  notify_when_empty();
}

void HttpServerCore::abort_all() {
  done_ = nullptr;
  for (const auto& connection : all()) connection->shut();
}

std::vector<std::shared_ptr<HttpConnection>> HttpServerCore::all() const {
  std::vector<std::shared_ptr<HttpConnection>> list;
  list.reserve(connections_.size());
  for (const auto& [_, connection] : connections_) list.push_back(connection);
  return list;
}

void HttpServerCore::notify_when_empty() {
  if (!closing_ || !connections_.empty() || !done_) return;
  loop_.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->done_) std::exchange(self->done_, nullptr)();
  });
}

}  // namespace relay::net
