/// Drives a real loop in a test until something becomes true, with a deadline instead of sleeping.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/asio_loop.h"
#include "net/stream.h"

namespace relay::net::testing {

inline constexpr Millis kDeadline{10'000};

/// Runs the loop until `check()` holds; false when the deadline passed first.
inline bool run_until(AsioLoop& loop, const std::function<bool()>& check) {
  bool late = false;
  const auto deadline = loop.after(kDeadline, [&] {
    late = true;
    loop.stop();
  });
  std::unique_ptr<Timer> again;
  std::function<void()> ask = [&] {
    if (check()) return loop.stop();
    again = loop.after(Millis{1}, [&] { ask(); });
  };
  loop.post([&] { ask(); });
  loop.run();
  return !late;
}

/// Records everything that happens to a stream.
class Recorder final : public StreamListener {
 public:
  explicit Recorder(std::unique_ptr<Stream> made) : stream{std::move(made)} { stream->start(*this); }

  void on_bytes(std::string_view bytes) override {
    received.append(bytes);
    ++reads;
    if (when_read) when_read();
  }
  void on_written(std::size_t bytes_left) override {
    ++progress;
    left = bytes_left;
  }
  void on_closed(const std::string& reason) override {
    closed = reason;
    if (when_closed) when_closed();
  }

  std::string received;
  int reads = 0;
  int progress = 0;
  std::size_t left = 0;
  std::string closed;
  std::function<void()> when_read;
  std::function<void()> when_closed;
  std::unique_ptr<Stream> stream;
};

}  // namespace relay::net::testing
