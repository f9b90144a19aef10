#include "net/http_response.h"

#include "base/log.h"
#include "net/http_connection.h"

namespace relay::net {

HttpTransaction::HttpTransaction(std::shared_ptr<HttpConnection> connection)
    : connection_{std::move(connection)}, number_{connection_->turn()} {}

HttpConnection* HttpTransaction::get() const {
  return connection_ && connection_->turn() == number_ ? connection_.get() : nullptr;
}

BodyStream& BodyStream::operator=(BodyStream&& other) noexcept {
  BodyStream old{std::exchange(turn_, std::exchange(other.turn_, {}))};
  return *this;
}

BodyStream::~BodyStream() {
  if (auto* connection = turn_.get()) connection->shut();
}

void BodyStream::write(SharedBuffer piece) {
  if (auto* connection = turn_.get()) connection->write_piece(std::move(piece));
}

std::size_t BodyStream::waiting_bytes() const {
  const auto* connection = turn_.get();
  return connection == nullptr ? 0 : connection->waiting_bytes();
}

void BodyStream::finish() {
  const auto turn = std::exchange(turn_, {});
  if (auto* connection = turn.get()) connection->finish_stream();
}

WebSocket& WebSocket::operator=(WebSocket&& other) noexcept {
  WebSocket old{std::exchange(turn_, std::exchange(other.turn_, {}))};
  return *this;
}

WebSocket::~WebSocket() {
  if (auto* connection = turn_.get()) connection->shut();
}

void WebSocket::write_text(SharedBuffer text) {
  if (auto* connection = turn_.get()) connection->write_message(Opcode::Text, std::move(text));
}

void WebSocket::write_binary(SharedBuffer bytes) {
  if (auto* connection = turn_.get()) connection->write_message(Opcode::Binary, std::move(bytes));
}

std::size_t WebSocket::waiting_bytes() const {
  const auto* connection = turn_.get();
  return connection == nullptr ? 0 : connection->waiting_bytes();
}

void WebSocket::close(std::uint16_t code, std::string_view reason) {
  const auto turn = std::exchange(turn_, {});
  if (auto* connection = turn.get()) connection->close_websocket(code, reason);
}

ResponseWriter& ResponseWriter::operator=(ResponseWriter&& other) noexcept {
  ResponseWriter old{std::exchange(turn_, std::exchange(other.turn_, {}))};
  return *this;
}

ResponseWriter::~ResponseWriter() {
  auto* connection = turn_.get();
  if (connection == nullptr) return;
  log::error("an HTTP request was left unanswered", {{"request", connection->asked()}});
  connection->send(error_response(500, "INTERNAL", "the request was not answered; this is a mistake of the program"));
}

void ResponseWriter::send(ServerResponse answer) {
  const auto turn = std::exchange(turn_, {});
  if (auto* connection = turn.get()) connection->send(std::move(answer));
}

std::optional<BodyStream> ResponseWriter::stream(ServerResponse head, BodyListener& listener) {
  auto turn = std::exchange(turn_, {});
  auto* connection = turn.get();
  if (connection == nullptr || !connection->begin_stream(std::move(head), listener)) return std::nullopt;
  return BodyStream{std::move(turn)};
}

std::optional<WebSocket> ResponseWriter::accept_websocket(WebSocketListener& listener, std::string_view protocol) {
  auto turn = std::exchange(turn_, {});
  auto* connection = turn.get();
  if (connection == nullptr || !connection->begin_websocket(listener, protocol)) return std::nullopt;
  return WebSocket{std::move(turn)};
}

}  // namespace relay::net
