/// One client connection of the HTTP server: reads requests, passes them to the handler one at a time, writes the
///   responses. Private to the server.
///
///   Reading ──request──▶ Answering ──send──▶ Reading (kept alive) or Closing
///                            ├──stream──▶ Streaming ──finish──▶ Reading or Closing
///                            └──accept──▶ WebSocket ──close──▶ Closing
///   Closing: pending bytes are sent, then the sending half is shut down and more input is discarded until the client
///   closes. Closing a socket with unread bytes would reset the connection and lose the last response.
///
/// Invariants: each request, stream and WebSocket is a transaction with a number; handles of a finished transaction do
///   nothing. No listener is called inside a call of its handle.
/// Ownership: shared by the core, the handles and the pending flush; `shut` closes the socket, once.
/// Threading: loop thread only.
#pragma once

#include <optional>

#include "base/unique_fd.h"
#include "net/descriptor_watch.h"
#include "net/http_server_core.h"
#include "net/request_reader.h"
#include "net/websocket_reader.h"
#include "net/write_queue.h"

namespace relay::net {

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(HttpServerCore& core, UniqueFd socket, HttpPeer peer);

  // For the core.
  void start();
  void refuse(ServerResponse response);
  void flush();
  [[nodiscard]] const HttpPeer& peer() const { return peer_; }
  [[nodiscard]] SteadyTime deadline() const { return std::min(phase_deadline_, write_deadline_); }
  void on_deadline(SteadyTime now);
  /// The server accepts no more requests: the current one is the last.
  void close_after_response();
  /// Ends the connection now. The listener, if any, gets the reason.
  void abort(const std::string& reason);
  void shut();

  // For the handles; each belongs to the current transaction.
  [[nodiscard]] std::uint64_t transaction() const { return transaction_; }
  /// Method and path, for the log; queries may hold secrets.
  [[nodiscard]] const std::string& request_line() const { return request_line_; }
  void send(ServerResponse response);
  bool start_stream(ServerResponse head, BodyListener& listener);
  bool start_websocket(WebSocketListener& listener, std::string_view protocol);
  void write_chunk(SharedBuffer chunk);
  void write_message(Opcode opcode, SharedBuffer payload);
  [[nodiscard]] std::size_t waiting_bytes() const { return out_.bytes(); }
  void finish_stream();
  void close_websocket(std::uint16_t code, std::string_view reason);

 private:
  enum class Phase { Reading, Answering, Streaming, WebSocket, Closing, Closed };

  /// State of a WebSocket.
  struct Frames {
    explicit Frames(std::size_t max_message_bytes) : reader{max_message_bytes} {}
    WebSocketReader reader;
    WebSocketListener* listener = nullptr;
    SteadyTime last_activity{};
    bool ping_pending = false;  // a ping is unanswered
    SteadyTime counting_since{};
    int control_frames = 0;  // since counting_since
  };

  void on_readable();
  void on_end_of_input();
  void want_read();
  void read_requests();
  void read_frames();
  void on_message(const WebSocketMessage& message);
  void handle(ReceivedRequest received);
  void refuse_request(const Error& error);
  void refuse_frames(const Error& error);
  /// Sends the close reason to the client and reports `reason` to the listener.
  void end_websocket(std::uint16_t code, std::string_view close_reason, const std::string& reason);
  void end_transaction();
  void end_head_only();
  void close_soon();
  void half_close();
  void on_drained();
  void on_writable();
  bool flush_now();
  void want_flush();
  void expect_more();
  void set_deadline(SteadyTime when);
  void set_write_deadline(SteadyTime when);
  void check_peer(SteadyTime now);
  [[nodiscard]] bool sends_no_body(int status) const;

  HttpServerCore* core_;  // null after `shut`
  UniqueFd socket_;
  HttpPeer peer_;
  std::unique_ptr<DescriptorWatch> watch_;  // after the descriptor it watches
  RequestReader reader_;
  WriteQueue out_;
  Phase phase_ = Phase::Reading;
  std::uint64_t transaction_ = 0;
  std::uint64_t requests_ = 0;

  // Of the current request.
  std::string request_line_;
  HttpVersion version_ = HttpVersion::Http11;
  KeepAlive keep_alive_ = KeepAlive::Yes;
  bool head_only_ = false;
  bool chunked_ = false;
  std::string websocket_key_;
  bool websocket_requested_ = false;
  BodyListener* listener_ = nullptr;  // of a stream or a WebSocket
  std::unique_ptr<Frames> frames_;

  std::optional<RequestReader::ParsePosition> expecting_;
  SteadyTime phase_deadline_ = SteadyTime::max();
  SteadyTime write_deadline_ = SteadyTime::max();
  std::size_t discarded_bytes_ = 0;
  bool input_ended_ = false;
  bool half_closed_ = false;
  bool dirty_ = false;
  bool socket_is_full_ = false;  // until the watch reports otherwise
  bool overflowed_ = false;
};

}  // namespace relay::net
