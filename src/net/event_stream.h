/// Server-sent events (text/event-stream) as a pure value: bytes in, cut anywhere; whole events out.
///
/// Invariants: the same bytes give the same events however they are cut. An event counts once the empty line behind it
///   is there; what a broken connection leaves behind is no event. Nothing grows without end: an event larger than the
///   limit is passed over to its last byte and counted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace relay::net {

struct ServerEvent {
  std::string type = {};  // as named by the sender; empty: "message"
  std::string data = {};  // its lines, joined by '\n'
};

class EventStream {
 public:
  static constexpr std::size_t kMaxEventBytes = 16U << 20U;

  explicit EventStream(std::size_t max_event_bytes = kMaxEventBytes) : max_bytes_{max_event_bytes} {}

  [[nodiscard]] std::vector<ServerEvent> feed(std::string_view bytes);

  /// How many events were too large and passed over.
  [[nodiscard]] std::size_t skipped() const { return skipped_; }

 private:
  void take(std::string_view piece);
  void end_line(std::vector<ServerEvent>& events);
  void field(std::string_view name, std::string_view value);

  std::size_t max_bytes_;
  std::size_t skipped_ = 0;
  std::string line_;  // the one that has not ended
  ServerEvent event_;
  bool first_line_ = true;
  bool has_data_ = false;
  bool after_return_ = false;  // a line ended by '\r': a '\n' at once behind it belongs to that end
  bool line_has_bytes_ = false;
  bool too_large_ = false;
};

}  // namespace relay::net
