/// A client that writes raw frames, malformed ones included.
///
/// Every call blocks with a deadline. While it waits it answers PINGs, unless disabled, and returns other frames in order.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/unique_fd.h"
#include "protocol/frame.h"

namespace relay::integration {

inline constexpr std::chrono::milliseconds kTimeout{10'000};

/// `{"v":1,"type":…,"id":…,"ts":1,<more>"payload":…}`; `more` is JSON members, each followed by a comma.
std::string envelope(std::string_view type, std::string_view id, std::string_view payload = "{}",
                     std::string_view more = "");

class RawClient {
 public:
  /// Connects, or fails the test.
  explicit RawClient(const std::string& path);

  void send_frame(std::string_view body);
  void send_bytes(std::string_view bytes);

  /// The next frame other than PING; nothing at the end of the connection or after the timeout.
  std::optional<json::object> receive(std::chrono::milliseconds timeout = kTimeout);
  /// Skips frames until one of this type. Without one: an empty object and a test failure.
  json::object receive_type(std::string_view type, std::chrono::milliseconds timeout = kTimeout);
  /// Whether the daemon closes the connection within the timeout; discards frames.
  bool is_closed(std::chrono::milliseconds timeout = kTimeout);

  /// Sends HELLO, requesting an ACK or NACK of each SEND. Returns the payload of WELCOME.
  json::object hello(std::string_view name, std::string_view more_members = "");
  void send(std::string_view to, std::string_view body, std::string_view id);
  /// Acknowledges the next DELIVER and returns its body.
  std::string next_body();

  bool answers_pings = true;
  [[nodiscard]] int fd() const { return fd_.get(); }
  void close() { fd_.reset(); }

 private:
  bool read_more(std::chrono::steady_clock::time_point deadline);

  UniqueFd fd_;
  protocol::FrameReader reader_;
  bool at_end_ = false;
};

/// Registers an agent that is offline afterwards: HELLO, then disconnect.
void register_agent(const std::string& socket, std::string_view name);

/// A string member of the payload; empty if absent.
std::string payload_string(const json::object& frame, std::string_view name);
std::string type_of(const json::object& frame);

}  // namespace relay::integration
