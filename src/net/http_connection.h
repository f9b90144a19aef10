/// One client of the HTTP server: reads requests, hands them up one at a time, writes what they are answered. Private to
/// the server.
///
///   Reading ──request──▶ Answering ──send──▶ Reading (kept alive) or Closing
///                            ├──stream──▶ Streaming ──finish──▶ Reading or Closing
///                            └──accept──▶ WebSocket ──close──▶ Closing
///   Closing: what waits is sent, then our half ends and the client's words are thrown away until it hangs up, because a
///   socket that is closed with bytes unread takes its last answer back.
///
/// Invariants: each request, stream and WebSocket is a turn with a number; handles of a turn that is over do nothing. No
///   listener is called inside a call of its handle.
/// Ownership: shared by the core, the handles and the flush that is due; the socket is closed by `shut`, once.
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
  void refuse(ServerResponse why);
  void flush();
  [[nodiscard]] const HttpPeer& peer() const { return peer_; }
  [[nodiscard]] SteadyTime deadline() const { return std::min(phase_deadline_, write_deadline_); }
  void on_deadline(SteadyTime now);
  /// The server takes no more requests: the one under way is the last.
  void close_after_response();
  /// Ends now. The listener, if there is one, is told why.
  void abort(const std::string& reason);
  void shut();

  // For the handles; each belongs to the turn that is under way.
  [[nodiscard]] std::uint64_t turn() const { return turn_; }
  /// Method and path, for the log; queries may hold secrets.
  [[nodiscard]] const std::string& asked() const { return asked_; }
  void send(ServerResponse answer);
  bool begin_stream(ServerResponse head, BodyListener& listener);
  bool begin_websocket(WebSocketListener& listener, std::string_view protocol);
  void write_piece(SharedBuffer piece);
  void write_message(Opcode opcode, SharedBuffer payload);
  [[nodiscard]] std::size_t waiting_bytes() const { return out_.bytes(); }
  void finish_stream();
  void close_websocket(std::uint16_t code, std::string_view reason);

 private:
  enum class Phase { Reading, Answering, Streaming, WebSocket, Closing, Closed };

  /// What only a WebSocket needs.
  struct Frames {
    explicit Frames(std::size_t max_message_bytes) : reader{max_message_bytes} {}
    WebSocketReader reader;
    WebSocketListener* listener = nullptr;
    SteadyTime heard{};
    bool asked = false;  // a ping is out
    SteadyTime counting_since{};
    int control_frames = 0;  // since then
  };

  void on_readable();
  void on_end_of_input();
  void want_read();
  void read_requests();
  void read_frames();
  void hear(const WebSocketMessage& message);
  void handle(ReceivedRequest received);
  void refuse_request(const Error& error);
  void refuse_frames(const Error& error);
  /// The client hears the last words, the listener the reason.
  void end_websocket(std::uint16_t code, std::string_view last_words, const std::string& reason);
  void end_turn();
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

  HttpServerCore* core_;  // until `shut`
  UniqueFd socket_;
  HttpPeer peer_;
  std::unique_ptr<DescriptorWatch> watch_;  // after the descriptor it watches
  RequestReader reader_;
  WriteQueue out_;
  Phase phase_ = Phase::Reading;
  std::uint64_t turn_ = 0;
  std::uint64_t requests_ = 0;

  // Of the request under way.
  std::string asked_;
  HttpVersion version_ = HttpVersion::Http11;
  KeepAlive keep_alive_ = KeepAlive::Yes;
  bool only_head_ = false;
  bool chunked_ = false;
  std::string websocket_key_;
  bool asked_for_websocket_ = false;
  BodyListener* listener_ = nullptr;  // of a stream or a WebSocket
  std::unique_ptr<Frames> frames_;

  std::optional<RequestReader::ParsePosition> expecting_;
  SteadyTime phase_deadline_ = SteadyTime::max();
  SteadyTime write_deadline_ = SteadyTime::max();
  std::size_t thrown_away_ = 0;
  bool input_ended_ = false;
  bool half_closed_ = false;
  bool dirty_ = false;
  bool socket_is_full_ = false;  // until the watch says otherwise
  bool too_much_waits_ = false;
};

}  // namespace relay::net
