/// The terminal of one agent as somebody elsewhere sees it: looks in at the host's door and touches nothing.
///
/// Why no screen of our own: the host draws the whole screen for whoever comes, and again for one that could not keep up
///   (docs/spec/host.md). So a slow watcher only stops reading here, and nothing piles up on this side.
/// Invariants: text is whole UTF-8, whatever the cuts; bytes that are none become U+FFFD where they are written. After
///   `on_gone` nothing more is called; it is never called inside the constructor.
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
  /// The whole of it, for a terminal of that size: at first, and after every change of size.
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

  /// While paused nothing is read; what is missed meanwhile the host makes up for with the whole screen.
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
  std::string partial_character_;  // the beginning of a character whose end has not come
  int columns_ = 0, rows_ = 0;
  bool full_screen_next_ = false;
  bool paused_ = false;
  std::unique_ptr<net::Stream> stream_;
  Lifetime lifetime_;
};

/// How many bytes at the end are the beginning of a character of UTF-8 that is not whole yet: 0 to 3.
std::size_t incomplete_utf8_bytes(std::string_view bytes);

}  // namespace relay::api
