/// A read-only view of one agent's terminal, over the host's socket.
///
/// Why no screen model here: the host sends the whole screen to each new client, and again to one that fell behind
///   (docs/spec/host.md). For a slow reader this class only stops reading, so nothing accumulates here.
/// Invariants: text consists of whole UTF-8 characters; invalid bytes become U+FFFD when they are written as JSON.
///   After `on_ended` nothing more is called; it is never called inside the constructor.
/// Ownership: borrows the network and the listener, which outlive it. May be destroyed inside any of its callbacks.
/// Threading: loop thread only.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/lifetime.h"
#include "net/stream.h"
#include "protocol/frame.h"

namespace relay::api {

class ScreenListener {
 public:
  virtual ~ScreenListener() = default;
  /// The whole screen for a terminal of that size: first, and after every change of size.
  virtual void on_screen(int columns, int rows, std::string_view text) = 0;
  virtual void on_output(std::string_view text) = 0;
  virtual void on_ended(const std::string& reason) = 0;
};

class ScreenWatch final : private net::StreamListener {
 public:
  ScreenWatch(net::Network& network, std::string agent, const std::string& socket, ScreenListener& listener);
  ~ScreenWatch() override;
  ScreenWatch(const ScreenWatch&) = delete;
  ScreenWatch& operator=(const ScreenWatch&) = delete;

  /// While paused nothing is read. The host sends the whole screen for the output that was missed.
  void pause();
  void resume();

 private:
  void on_connected(Result<std::unique_ptr<net::Stream>> stream);
  void on_bytes(std::string_view bytes) override;
  void on_written(std::size_t) override {}
  void on_closed(const std::string& reason) override;
  void on_terminal(std::string_view bytes);
  void on_object(const json::object& object);
  void finish(const std::string& reason);

  std::string agent_;
  ScreenListener& listener_;
  protocol::FrameReader reader_;
  std::string partial_character_;  // the start of a UTF-8 character
  int columns_ = 0, rows_ = 0;
  bool full_screen_next_ = false;
  bool paused_ = false;
  std::unique_ptr<net::Stream> stream_;
  Lifetime lifetime_;
};

/// The number of bytes at the end that are the start of an incomplete UTF-8 character: 0 to 3.
std::size_t incomplete_utf8_bytes(std::string_view bytes);

}  // namespace relay::api
