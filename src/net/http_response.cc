#include "net/http_response.h"

#include "base/log.h"
#include "net/http_connection.h"

namespace relay::net {

HttpTransaction::HttpTransaction(std::shared_ptr<HttpConnection> connection)
    : connection_{std::move(connection)}, number_{connection_->transaction()} {}

HttpConnection* HttpTransaction::get() const {
  return connection_ && connection_->transaction() == number_ ? connection_.get() : nullptr;
}

BodyStream& BodyStream::operator=(BodyStream&& other) noexcept {
  BodyStream old{std::exchange(transaction_, std::exchange(other.transaction_, {}))};
  return *this;
}

BodyStream::~BodyStream() {
  if (auto* connection = transaction_.get()) connection->shut();
}

void BodyStream::write(SharedBuffer chunk) {
  if (auto* connection = transaction_.get()) connection->write_chunk(std::move(chunk));
}

std::size_t BodyStream::waiting_bytes() const {
  const auto* connection = transaction_.get();
  return connection == nullptr ? 0 : connection->waiting_bytes();
}

void BodyStream::finish() {
  const auto transaction = std::exchange(transaction_, {});
  if (auto* connection = transaction.get()) connection->finish_stream();
}

WebSocket& WebSocket::operator=(WebSocket&& other) noexcept {
  WebSocket old{std::exchange(transaction_, std::exchange(other.transaction_, {}))};
  return *this;
}

WebSocket::~WebSocket() {
  if (auto* connection = transaction_.get()) connection->shut();
}

void WebSocket::write_text(SharedBuffer text) {
  if (auto* connection = transaction_.get()) connection->write_message(Opcode::Text, std::move(text));
}

void WebSocket::write_binary(SharedBuffer bytes) {
  if (auto* connection = transaction_.get()) connection->write_message(Opcode::Binary, std::move(bytes));
}

std::size_t WebSocket::waiting_bytes() const {
  const auto* connection = transaction_.get();
  return connection == nullptr ? 0 : connection->waiting_bytes();
}

void WebSocket::close(std::uint16_t code, std::string_view reason) {
  const auto transaction = std::exchange(transaction_, {});
  if (auto* connection = transaction.get()) connection->close_websocket(code, reason);
}

ResponseWriter& ResponseWriter::operator=(ResponseWriter&& other) noexcept {
  ResponseWriter old{std::exchange(transaction_, std::exchange(other.transaction_, {}))};
  return *this;
}

ResponseWriter::~ResponseWriter() {
  auto* connection = transaction_.get();
  if (connection == nullptr) return;
  log::error("an HTTP handler sent no response", {{"request", connection->request_line()}});
  connection->send(error_response(500, "INTERNAL", "the server sent no response; this is a bug"));
}

void ResponseWriter::send(ServerResponse response) {
  const auto transaction = std::exchange(transaction_, {});
  if (auto* connection = transaction.get()) connection->send(std::move(response));
}

std::optional<BodyStream> ResponseWriter::stream(ServerResponse head, BodyListener& listener) {
  auto transaction = std::exchange(transaction_, {});
  auto* connection = transaction.get();
  if (connection == nullptr || !connection->start_stream(std::move(head), listener)) return std::nullopt;
  return BodyStream{std::move(transaction)};
}

std::optional<WebSocket> ResponseWriter::accept_websocket(WebSocketListener& listener, std::string_view protocol) {
  auto transaction = std::exchange(transaction_, {});
  auto* connection = transaction.get();
  if (connection == nullptr || !connection->start_websocket(listener, protocol)) return std::nullopt;
  return WebSocket{std::move(transaction)};
}

}  // namespace relay::net
