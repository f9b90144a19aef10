/// Any bytes on a server connection (a socket pair): every response is well-formed and below 500, and nothing is left
/// after the client disconnects.
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>

#include "check.h"
#include "net/asio_loop.h"
#include "net/http_server.h"
#include "net/readable_watch.h"

namespace {

using namespace relay;
using namespace relay::net;

constexpr std::size_t kMaxInput = 32U * 1024U;  // fits the buffer between the two sockets

struct Talk final : WebSocketListener {
  void on_text(std::string_view text) override {
    if (text == "close") return socket->close(4000, text);
    socket->write_text(make_shared_buffer(std::string{text}));
  }
  void on_closed(const std::string& reason) override { FUZZ_CHECK(!reason.empty()); }
  std::optional<BodyStream> stream;
  std::optional<WebSocket> socket;
};

/// The path chooses the kind of response.
struct Handler {
  AsioLoop& loop;
  std::list<Talk> talks = {};
  std::list<ResponseWriter> later = {};

  void operator()(ServerRequest request, ResponseWriter reply) {
    if (request.path == "/socket") {
      auto& talk = talks.emplace_back();
      talk.socket = reply.accept_websocket(talk);
    } else if (request.path == "/stream") {
      auto& talk = talks.emplace_back();
      talk.stream = reply.stream({.body = request.body}, talk);
      if (talk.stream) talk.stream->write(make_shared_buffer(request.query));
      if (talk.stream && request.query != "open") talk.stream->finish();
    } else if (request.path == "/later") {
      later.push_back(std::move(reply));
      loop.post([this] {
        later.front().send({.body = "later"});
        later.pop_front();
      });
    } else {
      reply.send({.content_type = "text/plain", .body = request.body});
    }
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  AsioLoop loop;
  Handler handler{loop};
  const HttpServerLimits limits{.header_bytes = 2'048, .body_bytes = 512};
  const auto server = *HttpServer::listen(loop, {}, limits, [&](ServerRequest request, ResponseWriter reply) {
    handler(std::move(request), std::move(reply));
  });
  int ends[2];
  FUZZ_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
  const UniqueFd client{ends[0]};
  server->adopt(UniqueFd{ends[1]});

  const auto count = std::min(size, kMaxInput);
  FUZZ_CHECK(count == 0 || ::send(client.get(), bytes, count, MSG_NOSIGNAL) == static_cast<ssize_t>(count));
  FUZZ_CHECK(::shutdown(client.get(), SHUT_WR) == 0);
  std::string output;
  ReadableWatch watch{loop, client.get(), [&] {
                        char some[16 * 1024];
                        const ssize_t got = ::recv(client.get(), some, sizeof some, MSG_DONTWAIT);
                        if (got > 0) output.append(some, static_cast<std::size_t>(got));
                        if (got == 0 || (got < 0 && errno != EAGAIN)) loop.stop();
                      }};
  loop.run();
  FUZZ_CHECK(output.empty() || output.starts_with("HTTP/1.1 "));
  FUZZ_CHECK(!output.starts_with("HTTP/1.1 5"));
  FUZZ_CHECK(server->connections() == 0);
  return 0;
}
