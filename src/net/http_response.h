/// Responses of the HTTP server: at once and whole, as a stream, or as a WebSocket.
///
/// A handler gets a ResponseWriter, the right to respond to one request once, now or later. A writer destroyed without
/// a response sends 500 to the client and logs an error; after the client has disconnected it does nothing.
/// Invariants: nothing here blocks or fails, and no listener is called inside a call of its handle. Writes of one loop
///   turn are sent together. Bytes the client does not take stay queued; `waiting_bytes` is their number, and the
///   writer decides when that is too much. The server's own bound (HttpServerLimits) is far higher and ends the
///   connection.
/// Ownership: handles are move-only and may outlive the server. Listeners outlive their handles; after `on_closed`, after
///   `finish` or `close`, and after the destruction of the handle they are not called. A handle may be destroyed inside
///   any of its callbacks; destroying an unfinished one cuts the connection, so the client detects it.
/// Threading: loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/server_request.h"
#include "net/write_queue.h"

namespace relay::net {

class HttpConnection;

/// The server writes Content-Length, Transfer-Encoding, Connection, Upgrade and Sec-WebSocket-*. A header that cannot
/// be written (a line end in a value) is a bug of the caller: the client gets 500, the log the reason.
struct ServerResponse {
  int status = 200;
  std::string content_type = {};  // empty: no header
  std::string body = {};
  std::vector<HttpHeader> headers = {};
  bool last = false;  // the connection closes after it
};

/// Adds headers that keep a browser from misusing a response: no site may frame it (the policy counts only as a
/// header), it loads nothing, and its type is not guessed. A policy that is already present stays.
void add_protective_headers(std::vector<HttpHeader>& headers);

/// {"error":{"code":"NOT_FOUND","message":"there is no agent called Bob"}}
ServerResponse error_response(int status, std::string_view code, std::string_view message);

class BodyListener {
 public:
  virtual ~BodyListener() = default;
  /// The kernel has taken the last pending byte.
  virtual void on_drained() {}
  /// Last call: the client disconnected or does not read, or the server closes. The reason is for users.
  virtual void on_closed(const std::string& reason) = 0;
};

class WebSocketListener : public BodyListener {
 public:
  /// A whole message of valid UTF-8, valid until this returns.
  virtual void on_text(std::string_view text) = 0;
};

/// One request of a connection; ends with the response or when the client disconnects.
class HttpTransaction {
 public:
  HttpTransaction() = default;
  explicit HttpTransaction(std::shared_ptr<HttpConnection> connection);
  /// The connection while the transaction lasts, else null.
  [[nodiscard]] HttpConnection* get() const;

 private:
  std::shared_ptr<HttpConnection> connection_;
  std::uint64_t number_ = 0;
};

/// A body that is sent in chunks as they are produced.
class BodyStream {
 public:
  BodyStream() = default;
  explicit BodyStream(HttpTransaction transaction) : transaction_{std::move(transaction)} {}
  BodyStream(BodyStream&& other) noexcept : transaction_{std::exchange(other.transaction_, {})} {}
  BodyStream& operator=(BodyStream&& other) noexcept;
  ~BodyStream();

  void write(SharedBuffer chunk);
  [[nodiscard]] std::size_t waiting_bytes() const;
  [[nodiscard]] bool open() const { return transaction_.get() != nullptr; }
  /// Completes the body; the connection continues with the next request.
  void finish();

 private:
  HttpTransaction transaction_;
};

class WebSocket {
 public:
  static constexpr std::uint16_t kNormalClosure = 1000;
  static constexpr std::uint16_t kGoingAway = 1001;

  WebSocket() = default;
  explicit WebSocket(HttpTransaction transaction) : transaction_{std::move(transaction)} {}
  WebSocket(WebSocket&& other) noexcept : transaction_{std::exchange(other.transaction_, {})} {}
  WebSocket& operator=(WebSocket&& other) noexcept;
  ~WebSocket();

  void write_text(SharedBuffer text);
  void write_binary(SharedBuffer bytes);
  [[nodiscard]] std::size_t waiting_bytes() const;
  [[nodiscard]] bool open() const { return transaction_.get() != nullptr; }
  /// Sends what is pending, then the code and the reason (cut to 123 bytes).
  void close(std::uint16_t code = kNormalClosure, std::string_view reason = {});

 private:
  HttpTransaction transaction_;
};

class ResponseWriter {
 public:
  explicit ResponseWriter(HttpTransaction transaction) : transaction_{std::move(transaction)} {}
  ResponseWriter(ResponseWriter&& other) noexcept : transaction_{std::exchange(other.transaction_, {})} {}
  ResponseWriter& operator=(ResponseWriter&& other) noexcept;
  ~ResponseWriter();

  /// True after the response, or when the client has disconnected.
  [[nodiscard]] bool is_done() const { return transaction_.get() == nullptr; }

  void send(ServerResponse response);
  /// The body of `head`, if any, is the first chunk. A client that requested the head only is disconnected right after
  /// it. Empty when the client has already disconnected; the listener is then never called.
  [[nodiscard]] std::optional<BodyStream> stream(ServerResponse head, BodyListener& listener);
  /// `protocol`, if any, is sent to the client as the chosen one of those it offered. Empty when the client has
  /// disconnected, or requested no WebSocket and got an error response.
  [[nodiscard]] std::optional<WebSocket> accept_websocket(WebSocketListener& listener, std::string_view protocol = {});

 private:
  HttpTransaction transaction_;
};

/// True when the request is for a WebSocket.
bool requests_websocket(const ServerRequest& request);
/// The key of a version 13 handshake; without it no WebSocket can be accepted.
std::optional<std::string_view> websocket_key(const ServerRequest& request);

}  // namespace relay::net
