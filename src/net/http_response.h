/// How a request is answered: at once and whole, in pieces for as long as they come, or as a WebSocket.
///
/// A handler is given an HttpReply, the right to answer one request once, now or later. Dropped unanswered it tells the
///   client 500 and the log why; used after the client has gone it does nothing.
/// Invariants: nothing here blocks or fails, and no listener is called inside a call of its own. What is written in one
///   turn of the loop leaves together. What a client does not take waits, `waiting_bytes` says how much, and whoever
///   writes decides when that is too much; the server's own bound (HttpServerLimits) is far behind and ends the client.
/// Ownership: handles are move-only and may outlive the server. Listeners outlive their handles; after `on_gone`, after
///   `finish` or `close`, and after the death of the handle nothing more is called. A handle may be destroyed inside any
///   of its callbacks, and destroying one that was not finished cuts the connection, so that the client can tell.
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

/// Content-Length, Transfer-Encoding, Connection, Upgrade and Sec-WebSocket-* are the server's to write. Headers that
/// cannot be written (a line end in a value) are our mistake: the client hears 500, the log the reason.
struct ServerResponse {
  int status = 200;
  std::string content_type = {};  // empty: none is named
  std::string body = {};
  std::vector<HttpHeader> headers = {};
  bool last = false;  // the connection ends with it
};

/// What keeps a browser from using an answer in another way than it was meant: it is shown in no frame of any site (the
/// policy counts only as a header), loads nothing and is of no other type than it says. A policy that the answer has
/// already stays.
void add_protective_headers(std::vector<HttpHeader>& headers);

/// {"error":{"code":"NOT_FOUND","message":"there is no agent called Bob"}}
ServerResponse error_response(int status, std::string_view code, std::string_view sentence);

class BodyListener {
 public:
  virtual ~BodyListener() = default;
  /// The last byte that waited has been handed to the kernel.
  virtual void on_drained() {}
  /// The client left, did not read, or the server closes; why, for a person. Last call.
  virtual void on_gone(const std::string& reason) = 0;
};

class WebSocketListener : public BodyListener {
 public:
  /// UTF-8, whole, and gone when this returns.
  virtual void on_text(std::string_view text) = 0;
};

/// One request in the life of a connection; over when it was answered or the client has gone.
class HttpTransaction {
 public:
  HttpTransaction() = default;
  explicit HttpTransaction(std::shared_ptr<HttpConnection> connection);
  /// The connection while the turn lasts, else null.
  [[nodiscard]] HttpConnection* get() const;

 private:
  std::shared_ptr<HttpConnection> connection_;
  std::uint64_t number_ = 0;
};

/// A body that is sent as it comes into being.
class BodyStream {
 public:
  BodyStream() = default;
  explicit BodyStream(HttpTransaction turn) : turn_{std::move(turn)} {}
  BodyStream(BodyStream&& other) noexcept : turn_{std::exchange(other.turn_, {})} {}
  BodyStream& operator=(BodyStream&& other) noexcept;
  ~BodyStream();

  void write(SharedBuffer piece);
  [[nodiscard]] std::size_t waiting_bytes() const;
  [[nodiscard]] bool open() const { return turn_.get() != nullptr; }
  /// The body is complete; the connection goes on to the next request.
  void finish();

 private:
  HttpTransaction turn_;
};

class WebSocket {
 public:
  static constexpr std::uint16_t kNormalClosure = 1000;
  static constexpr std::uint16_t kGoingAway = 1001;

  WebSocket() = default;
  explicit WebSocket(HttpTransaction turn) : turn_{std::move(turn)} {}
  WebSocket(WebSocket&& other) noexcept : turn_{std::exchange(other.turn_, {})} {}
  WebSocket& operator=(WebSocket&& other) noexcept;
  ~WebSocket();

  void write_text(SharedBuffer text);
  void write_binary(SharedBuffer bytes);
  [[nodiscard]] std::size_t waiting_bytes() const;
  [[nodiscard]] bool open() const { return turn_.get() != nullptr; }
  /// What waits is sent, then the code and the reason (cut to 123 bytes).
  void close(std::uint16_t code = kNormalClosure, std::string_view reason = {});

 private:
  HttpTransaction turn_;
};

class ResponseWriter {
 public:
  explicit ResponseWriter(HttpTransaction turn) : turn_{std::move(turn)} {}
  ResponseWriter(ResponseWriter&& other) noexcept : turn_{std::exchange(other.turn_, {})} {}
  ResponseWriter& operator=(ResponseWriter&& other) noexcept;
  ~ResponseWriter();

  /// Has the client gone already, or was it answered?
  [[nodiscard]] bool over() const { return turn_.get() == nullptr; }

  void send(ServerResponse answer);
  /// The answer's body, if any, is the first piece. A client that only asked for the head is gone right behind it.
  /// Nothing when the client has gone already; the listener is then never called.
  [[nodiscard]] std::optional<BodyStream> stream(ServerResponse head, BodyListener& listener);
  /// The protocol, if any, is told to the client as the one chosen of those it offered. Nothing when the client has gone,
  /// or asked for no WebSocket, which it then has been told.
  [[nodiscard]] std::optional<WebSocket> accept_websocket(WebSocketListener& listener, std::string_view protocol = {});

 private:
  HttpTransaction turn_;
};

/// Does the request ask for a WebSocket?
bool asks_for_websocket(const ServerRequest& request);
/// The key of a handshake as version 13 wants it; without it nothing can be accepted.
std::optional<std::string_view> websocket_key(const ServerRequest& request);

}  // namespace relay::net
