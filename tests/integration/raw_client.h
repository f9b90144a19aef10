/// A client that writes frames by hand, so that a test can also send malformed ones.
///
/// Blocking, with a deadline on everything. It answers PINGs while waiting, unless disabled; other frames are returned
/// in order.
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

/// `{"v":1,"type":…,"id":…,"ts":1,<more>"payload":…}`; `more` is JSON members with a comma behind each.
std::string envelope(std::string_view type, std::string_view id, std::string_view payload = "{}",
                     std::string_view more = "");

class RawClient {
 public:
  /// Connects, or fails the test.
  explicit RawClient(const std::string& path);

  void say(std::string_view body);
  void say_bytes(std::string_view bytes);

  /// The next frame that is no PING; empty when the peer closed or time ran out.
  std::optional<json::object> hear(std::chrono::milliseconds patience = kTimeout);
  /// The next frame of that type, others are skipped; an empty object and a failed test when none comes.
  json::object hear_type(std::string_view type, std::chrono::milliseconds patience = kTimeout);
  /// True when the daemon closed the connection within the time; frames on the way are kept for nobody.
  bool is_closed(std::chrono::milliseconds patience = kTimeout);

  /// HELLO, and the WELCOME's payload. Asks for ACK or NACK of each SEND.
  json::object hello(std::string_view name, std::string_view more_members = "");
  void send(std::string_view to, std::string_view body, std::string_view id);
  /// The text of the next DELIVER, which is acknowledged.
  std::string next_text();

  bool answers_pings = true;
  [[nodiscard]] int fd() const { return fd_.get(); }
  void leave() { fd_.reset(); }

 private:
  bool read_more(std::chrono::steady_clock::time_point deadline);

  UniqueFd fd_;
  protocol::FrameReader reader_;
  bool ended_ = false;
};

/// A member of the payload as text; empty when absent.
std::string payload_text(const json::object& frame, std::string_view name);
std::string type_of(const json::object& frame);

}  // namespace relay::integration
