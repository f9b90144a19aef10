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
  void on_gone(const std::string& why) override { gone = why; }

  std::vector<std::string> texts;
  int drained = 0;
  std::string gone;
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
  testing::RawClient client() {
    if (!server) start();
    return {loop, server->port()};
  }
  /// A client whose WebSocket is open.
  testing::RawClient open(std::string_view behind = {}) {
    auto talking = client();
    talking.say(std::string{kHandshake}.append(behind));
    EXPECT_TRUE(talking.hears("\r\n\r\n"));
    EXPECT_TRUE(socket && socket->open());
    talking.heard().erase(0, talking.heard().find("\r\n\r\n") + 4);
    return talking;
  }
  bool gone() {
    return testing::run_until(loop, [&] { return !listener.gone.empty(); });
  }
  std::string answer_to(std::string handshake, std::string_view what, std::string_view instead) {
    handshake.replace(handshake.find(what), what.size(), instead);
    auto talking = client();
    talking.say(handshake);
    EXPECT_TRUE(talking.hears("\r\n\r\n"));
    return talking.heard();
  }
};

TEST_F(WebSocketTest, IsOpenedByTheHandlerWhoSawTheRequest) {
  protocol = "relay.v1";
  auto talking = client();
  talking.say(kHandshake);
  ASSERT_TRUE(talking.hears("\r\n\r\n"));
  EXPECT_EQ(talking.heard(),
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: relay.v1\r\n\r\n");
  EXPECT_TRUE(answer_to(std::string{kHandshake}, "/socket", "/other").starts_with("HTTP/1.1 404 "));
}

TEST_F(WebSocketTest, TellsAClientThatAsksForNone) {
  EXPECT_TRUE(answer_to(std::string{kHandshake}, "Upgrade: websocket\r\n", "").starts_with("HTTP/1.1 426 "));
  for (const auto& [what, instead] : {std::pair{"GET", "POST"},
                                      {"Version: 13", "Version: 8"},
                                      {"dGhlIHNhbXBsZSBub25jZQ==", "short"},
                                      {"keep-alive, Upgrade", "keep-alive"},
                                      {"HTTP/1.1", "HTTP/1.0"}}) {
    const auto heard = answer_to(std::string{kHandshake}, what, instead);
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 400 ")) << instead << ": " << heard;
  }
  EXPECT_FALSE(socket.has_value());
}

TEST_F(WebSocketTest, CarriesTextBothWays) {
  auto talking = open(client_frame(Opcode::Text, "with the handshake"));
  talking.say(client_frame(Opcode::Text, "hé") + client_frame(Opcode::Text, ""));
  ASSERT_TRUE(testing::run_until(loop, [&] { return listener.texts.size() == 3; }));
  EXPECT_EQ(listener.texts, (std::vector<std::string>{"with the handshake", "hé", ""}));
  socket->write_text(make_piece("hello"));
  socket->write_binary(make_piece(std::string(300, '\1')));
  EXPECT_EQ(socket->waiting_bytes(), 2u + 5u + 4u + 300u);
  ASSERT_TRUE(
      talking.hears(server_frame(Opcode::Text, "hello") + server_frame(Opcode::Binary, std::string(300, '\1'))));
  EXPECT_EQ(socket->waiting_bytes(), 0u);
  EXPECT_GT(listener.drained, 0);
}

TEST_F(WebSocketTest, AnswersAPing) {
  auto talking = open();
  talking.say(client_frame(Opcode::Ping, "are you there"));
  EXPECT_TRUE(talking.hears(server_frame(Opcode::Pong, "are you there")));
}

TEST_F(WebSocketTest, IsClosedByTheClient) {
  auto talking = open();
  talking.say(client_frame(Opcode::Close, std::string{"\x0f\xa0"} + "enough"));
  ASSERT_TRUE(gone());
  EXPECT_EQ(listener.gone, "the client closed the WebSocket (4000: enough)");
  EXPECT_FALSE(socket->open());
  ASSERT_TRUE(talking.sees_the_end());
  EXPECT_EQ(talking.heard(), close_frame(4000, "enough"));
}

TEST_F(WebSocketTest, IsClosedByUsWithACodeAndAReason) {
  auto talking = open();
  socket->write_text(make_piece("last words"));
  socket->close(4001, "we are done");
  EXPECT_FALSE(socket->open());
  ASSERT_TRUE(talking.sees_the_end());
  EXPECT_EQ(talking.heard(), server_frame(Opcode::Text, "last words") + close_frame(4001, "we are done"));
  EXPECT_EQ(listener.gone, "");
}

TEST_F(WebSocketTest, IsCutWhenItsHandleDies) {
  auto talking = open();
  socket.reset();
  ASSERT_TRUE(talking.sees_the_end());
  EXPECT_EQ(talking.heard(), "");
}

TEST_F(WebSocketTest, MayBeDestroyedWhileItIsHeard) {
  auto talking = open();
  listener.when_text = [&] { socket.reset(); };
  talking.say(client_frame(Opcode::Text, "one") + client_frame(Opcode::Text, "two"));
  ASSERT_TRUE(talking.sees_the_end());
  EXPECT_EQ(listener.texts.size(), 1u);
}

TEST_F(WebSocketTest, TellsWhenTheClientHasGone) {
  auto talking = open();
  talking.hang_up();
  ASSERT_TRUE(gone());
  socket->write_text(make_piece("to nobody"));
  EXPECT_EQ(socket->waiting_bytes(), 0u);
}

TEST_F(WebSocketTest, RefusesBadFramesWithTheirCode) {
  limits.body_bytes = 1'000;
  const std::pair<std::string, std::uint16_t> cases[] = {
      {std::string{"\x81\x01x", 3}, 1002},
      {client_frame(Opcode::Binary, "x"), 1003},
      {client_frame(Opcode::Text, "\xff"), 1007},
      {client_frame(Opcode::Text, std::string(1'001, 'x')), 1009},
  };
  for (const auto& [bytes, code] : cases) {
    listener.gone.clear();
    auto talking = open();
    talking.say(bytes);
    ASSERT_TRUE(gone()) << code;
    ASSERT_TRUE(talking.sees_the_end()) << code;
    EXPECT_EQ(talking.heard(), close_frame(code, listener.gone));
  }
  EXPECT_TRUE(listener.texts.empty());
}

TEST_F(WebSocketTest, RefusesAFloodOfPings) {
  auto talking = open();
  for (int i = 0; i < 1'000; ++i) talking.say(client_frame(Opcode::Ping, std::string(100, 'p')));
  ASSERT_TRUE(gone());
  EXPECT_TRUE(listener.gone.contains("too many pings")) << listener.gone;
  EXPECT_TRUE(talking.sees_the_end());
  EXPECT_LT(talking.heard().size(), 10'000u);
}

TEST_F(WebSocketTest, AsksASilentClientAndKeepsItWhenItAnswers) {
  limits.ping = Millis{60};  // far more than an answer takes, on a busy machine too
  auto talking = open();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(talking.hears(server_frame(Opcode::Ping, "")));
    talking.heard().clear();
    talking.say(client_frame(Opcode::Pong, ""));
  }
  ASSERT_TRUE(talking.hears(server_frame(Opcode::Ping, "")));
  EXPECT_TRUE(socket->open());
}

TEST_F(WebSocketTest, GivesUpAClientThatDoesNotAnswerAPing) {
  limits.ping = Millis{10};
  auto talking = open();
  ASSERT_TRUE(gone());
  EXPECT_EQ(listener.gone, "the client does not answer a ping");
  EXPECT_EQ(talking.heard(), server_frame(Opcode::Ping, ""));
  EXPECT_TRUE(talking.sees_the_end());
}

TEST_F(WebSocketTest, AClientThatHasMuchToReadIsNotAskedMeanwhile) {
  limits.ping = Millis{10};
  auto talking = open();
  talking.stop_reading();
  socket->write_text(make_piece(std::string(8 << 20, 'x')));
  bool later = false;
  const auto timer = loop.after(Millis{100}, [&] { later = true; });
  ASSERT_TRUE(run_until(loop, [&] { return later; }));
  EXPECT_TRUE(socket->open()) << listener.gone;
}

TEST_F(WebSocketTest, CutsAClientForWhomTooMuchWaits) {
  limits.waiting_bytes = 100'000;
  auto talking = open();
  talking.stop_reading();
  const auto large = make_piece(std::string(200'000, 'x'));
  for (int i = 0; i < 100; ++i) socket->write_text(large);
  ASSERT_TRUE(gone());
  EXPECT_EQ(large.use_count(), 1);
}

}  // namespace
}  // namespace relay::net
