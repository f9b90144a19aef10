/// One client of the WebSocket; ws_sockets.h describes the messages. Private to it.
///
///   Opening ──newest, agents, prompts──▶ Live ──too slow, disconnected, no response──▶ removed
///
/// Threading: loop thread only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/events/screen_watch.h"
#include "api/events/ws_request.h"
#include "api/events/ws_sockets.h"
#include "net/http_response.h"

namespace relay::api {

class LiveSocket final : public net::WebSocketListener, public FeedSink {
 public:
  explicit LiveSocket(LiveSockets& owner) : owner_{owner} {}
  ~LiveSocket() override;

  /// False when the client has disconnected or requested no WebSocket.
  bool open(net::ResponseWriter reply);
  /// Closes the socket and destroys this object.
  void close(std::uint16_t code, const std::string& reason);

  void write(net::SharedBuffer buffer) override { socket_.write_text(std::move(buffer)); }
  [[nodiscard]] std::size_t waiting_bytes() const override { return socket_.waiting_bytes(); }
  void end(std::uint64_t after, const std::string& reason) override;

 private:
  class Screen;

  void on_text(std::string_view text) override;
  void on_drained() override;
  void on_closed(const std::string& reason) override;

  void on_newest(const Result<std::uint64_t>& newest);
  void on_agents(const Result<json::object>& response);
  void on_prompts(const Result<json::object>& response);
  void send_snapshot();
  void start_reader();
  void execute(const SubscribeRequest& request);
  void execute(const WatchRequest& request);
  void execute(const UnwatchRequest& request);
  void send_error(std::string_view message);
  void send(std::string json);
  /// A callback that calls `method` if this object still exists.
  template <class Method>
  auto if_alive(Method method) {
    return [weak = std::weak_ptr{self_}, method](auto result) {
      if (const auto self = weak.lock()) ((*self)->*method)(result);
    };
  }

  LiveSockets& owner_;
  net::WebSocket socket_;
  std::shared_ptr<LiveSocket*> self_ = std::make_shared<LiveSocket*>(this);
  std::uint64_t after_ = 0;  // the start of its events
  EventSubscription subscription_;
  json::object snapshot_;
  bool snapshot_sent_ = false;
  std::unique_ptr<FeedReader> position_;
  std::map<std::string, std::unique_ptr<Screen>, std::less<>> screens_;
};

}  // namespace relay::api
