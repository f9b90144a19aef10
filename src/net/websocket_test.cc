#include <gtest/gtest.h>

#include "base/format.h"
#include "net/asio_loop.h"
#include "net/http_server.h"
#include "net/testing/loop_driver.h"
#include "net/testing/raw_client.h"
#include "net/websocket_reader.h"

namespace relay::net {
namespace {

struct SocketRecorder final : WebSocketListener {
  void on_text(std::string_view text) override {
    texts.emplace_back(text);
    if (when_text) when_text();
  }
  void on_drained() override { ++drained; }
  void on_closed(const std::string& reason) override { closed = reason; }

  std::vector<std::string> texts;
  int drained = 0;
  std::string closed;
  std::function<void()> when_text;
};

/// As a client sends it.
std::string client_frame(Opcode opcode, std::string_view payload) {
  auto frame = std::string{frame_head(opcode, payload.size()).view()};
  frame[1] = static_cast<char>(static_cast<unsigned char>(frame[1]) | 0x80U);
  return frame.append("\0\0\0\0", 4).append(payload);  // this mask changes nothing
}

/// As a server sends it.
std::string server_frame(Opcode opcode, std::string_view payload) {
  return std::string{frame_head(opcode, payload.size()).view()}.append(payload);
}

constexpr std::string_view kHandshake =
    "GET /socket HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

struct WebSocketTest : ::testing::Test {
  AsioLoop loop;
  HttpServerLimits limits{.linger = Millis{50}, .tick = Millis{1}};
  SocketRecorder listener;
  std::optional<WebSocket> socket;
  std::string protocol;
  std::unique_ptr<net::HttpServer> server;

  void start() {
    auto made = net::HttpServer::listen(loop, {}, limits, [this](ServerRequest request, ResponseWriter reply) {
      if (request.path != "/socket") return reply.send({.status = 404});
      socket = reply.accept_websocket(listener, protocol);
    });
    ASSERT_TRUE(made.has_value()) << made.error().message();
    server = *std::move(made);
  }
  testing::RawClient connect() {
    if (!server) start();
    return {loop, server->port()};
  }
  /// A client whose WebSocket is open.
  testing::RawClient open(std::string_view behind = {}) {
    auto client = connect();
    client.send(std::string{kHandshake}.append(behind));
    EXPECT_TRUE(client.wait_for("\r\n\r\n"));
    EXPECT_TRUE(socket && socket->open());
    client.output().erase(0, client.output().find("\r\n\r\n") + 4);
    return client;
  }
  bool wait_listener_closed() {
    return testing::run_until(loop, [&] { return !listener.closed.empty(); });
  }
  std::string response_to(std::string handshake, std::string_view from, std::string_view to) {
    handshake.replace(handshake.find(from), from.size(), to);
    auto client = connect();
    client.send(handshake);
    EXPECT_TRUE(client.wait_for("\r\n\r\n"));
    return client.output();
  }
};

TEST_F(WebSocketTest, IsOpenedByTheHandler) {
  protocol = "relay.v1";
  auto client = connect();
  client.send(kHandshake);
  ASSERT_TRUE(client.wait_for("\r\n\r\n"));
  EXPECT_EQ(client.output(),
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: relay.v1\r\n\r\n");
  EXPECT_TRUE(response_to(std::string{kHandshake}, "/socket", "/other").starts_with("HTTP/1.1 404 "));
}

TEST_F(WebSocketTest, RefusesAnInvalidHandshake) {
  EXPECT_TRUE(response_to(std::string{kHandshake}, "Upgrade: websocket\r\n", "").starts_with("HTTP/1.1 426 "));
  for (const auto& [from, to] : {std::pair{"GET", "POST"},
                                 {"Version: 13", "Version: 8"},
                                 {"dGhlIHNhbXBsZSBub25jZQ==", "short"},
                                 {"keep-alive, Upgrade", "keep-alive"},
                                 {"HTTP/1.1", "HTTP/1.0"}}) {
    const auto output = response_to(std::string{kHandshake}, from, to);
    EXPECT_TRUE(output.starts_with("HTTP/1.1 400 ")) << to << ": " << output;
  }
  EXPECT_FALSE(socket.has_value());
}

TEST_F(WebSocketTest, CarriesTextInBothDirections) {
  auto client = open(client_frame(Opcode::Text, "with the handshake"));
  client.send(client_frame(Opcode::Text, "hé") + client_frame(Opcode::Text, ""));
  ASSERT_TRUE(testing::run_until(loop, [&] { return listener.texts.size() == 3; }));
  EXPECT_EQ(listener.texts, (std::vector<std::string>{"with the handshake", "hé", ""}));
  socket->write_text(make_shared_buffer("hello"));
  socket->write_binary(make_shared_buffer(std::string(300, '\1')));
  EXPECT_EQ(socket->waiting_bytes(), 2u + 5u + 4u + 300u);
  ASSERT_TRUE(
      client.wait_for(server_frame(Opcode::Text, "hello") + server_frame(Opcode::Binary, std::string(300, '\1'))));
  EXPECT_EQ(socket->waiting_bytes(), 0u);
  EXPECT_GT(listener.drained, 0);
}

TEST_F(WebSocketTest, AnswersAPing) {
  auto client = open();
  client.send(client_frame(Opcode::Ping, "are you there"));
  EXPECT_TRUE(client.wait_for(server_frame(Opcode::Pong, "are you there")));
}

TEST_F(WebSocketTest, IsClosedByTheClient) {
  auto client = open();
  client.send(client_frame(Opcode::Close, std::string{"\x0f\xa0"} + "enough"));
  ASSERT_TRUE(wait_listener_closed());
  EXPECT_EQ(listener.closed, "the client closed the WebSocket (4000: enough)");
  EXPECT_FALSE(socket->open());
  ASSERT_TRUE(client.wait_closed());
  EXPECT_EQ(client.output(), close_frame(4000, "enough"));
}

TEST_F(WebSocketTest, IsClosedByTheServerWithCodeAndReason) {
  auto client = open();
  socket->write_text(make_shared_buffer("last words"));
  socket->close(4001, "we are done");
  EXPECT_FALSE(socket->open());
  ASSERT_TRUE(client.wait_closed());
  EXPECT_EQ(client.output(), server_frame(Opcode::Text, "last words") + close_frame(4001, "we are done"));
  EXPECT_EQ(listener.closed, "");
}

TEST_F(WebSocketTest, CutsTheConnectionWhenDestroyed) {
  auto client = open();
  socket.reset();
  ASSERT_TRUE(client.wait_closed());
  EXPECT_EQ(client.output(), "");
}

TEST_F(WebSocketTest, CanBeDestroyedInItsCallback) {
  auto client = open();
  listener.when_text = [&] { socket.reset(); };
  client.send(client_frame(Opcode::Text, "one") + client_frame(Opcode::Text, "two"));
  ASSERT_TRUE(client.wait_closed());
  EXPECT_EQ(listener.texts.size(), 1u);
}

TEST_F(WebSocketTest, ReportsThatTheClientDisconnected) {
  auto client = open();
  client.disconnect();
  ASSERT_TRUE(wait_listener_closed());
  socket->write_text(make_shared_buffer("dropped"));
  EXPECT_EQ(socket->waiting_bytes(), 0u);
}

TEST_F(WebSocketTest, ClosesWithTheCodeOfTheError) {
  limits.body_bytes = 1'000;
  const std::pair<std::string, std::uint16_t> cases[] = {
      {std::string{"\x81\x01x", 3}, 1002},
      {client_frame(Opcode::Binary, "x"), 1003},
      {client_frame(Opcode::Text, "\xff"), 1007},
      {client_frame(Opcode::Text, std::string(1'001, 'x')), 1009},
  };
  for (const auto& [bytes, code] : cases) {
    listener.closed.clear();
    auto client = open();
    client.send(bytes);
    ASSERT_TRUE(wait_listener_closed()) << code;
    ASSERT_TRUE(client.wait_closed()) << code;
    EXPECT_EQ(client.output(), close_frame(code, listener.closed));
  }
  EXPECT_TRUE(listener.texts.empty());
}

TEST_F(WebSocketTest, RefusesAFloodOfPings) {
  auto client = open();
  for (int i = 0; i < 1'000; ++i) client.send(client_frame(Opcode::Ping, std::string(100, 'p')));
  ASSERT_TRUE(wait_listener_closed());
  EXPECT_TRUE(listener.closed.contains("too many pings")) << listener.closed;
  EXPECT_TRUE(client.wait_closed());
  EXPECT_LT(client.output().size(), 10'000u);
}

TEST_F(WebSocketTest, PingsASilentClientAndKeepsItAfterAPong) {
  limits.ping = Millis{60};  // far more than a pong takes, even on a busy machine
  auto client = open();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.wait_for(server_frame(Opcode::Ping, "")));
    client.output().clear();
    client.send(client_frame(Opcode::Pong, ""));
  }
  ASSERT_TRUE(client.wait_for(server_frame(Opcode::Ping, "")));
  EXPECT_TRUE(socket->open());
}

TEST_F(WebSocketTest, CutsAClientWithoutPong) {
  limits.ping = Millis{10};
  auto client = open();
  ASSERT_TRUE(wait_listener_closed());
  EXPECT_EQ(listener.closed, "the client does not answer a ping");
  EXPECT_EQ(client.output(), server_frame(Opcode::Ping, ""));
  EXPECT_TRUE(client.wait_closed());
}

TEST_F(WebSocketTest, SendsNoPingWhileBytesArePending) {
  limits.ping = Millis{10};
  auto client = open();
  client.pause_reading();
  socket->write_text(make_shared_buffer(std::string(8 << 20, 'x')));
  bool later = false;
  const auto timer = loop.after(Millis{100}, [&] { later = true; });
  ASSERT_TRUE(run_until(loop, [&] { return later; }));
  EXPECT_TRUE(socket->open()) << listener.closed;
}

TEST_F(WebSocketTest, CutsAClientAboveTheByteLimit) {
  limits.waiting_bytes = 100'000;
  auto client = open();
  client.pause_reading();
  const auto large = make_shared_buffer(std::string(200'000, 'x'));
  for (int i = 0; i < 100; ++i) socket->write_text(large);
  ASSERT_TRUE(wait_listener_closed());
  EXPECT_EQ(large.use_count(), 1);
}

}  // namespace
}  // namespace relay::net
