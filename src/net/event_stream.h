/// A parser of server-sent events (text/event-stream), a pure value: bytes in, split anywhere; whole events out.
///
/// Invariants: the same bytes give the same events however they are split. An event counts once its empty line has
///   arrived; a broken connection leaves no partial event. Memory is bounded: an event above the limit is skipped to
///   its last byte and counted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace relay::net {

struct ServerEvent {
  std::string type = {};  // as the server named it; empty: "message"
  std::string data = {};  // its lines, joined by '\n'
};

class EventStream {
 public:
  static constexpr std::size_t kMaxEventBytes = 16U << 20U;

  explicit EventStream(std::size_t max_event_bytes = kMaxEventBytes) : max_bytes_{max_event_bytes} {}

  [[nodiscard]] std::vector<ServerEvent> feed(std::string_view bytes);

  /// Number of events above the limit.
  [[nodiscard]] std::size_t skipped() const { return skipped_; }

 private:
  void append(std::string_view bytes);
  void end_line(std::vector<ServerEvent>& events);
  void add_field(std::string_view name, std::string_view value);

  std::size_t max_bytes_;
  std::size_t skipped_ = 0;
  std::string line_;  // the unfinished line
  ServerEvent event_;
  bool first_line_ = true;
  bool has_data_ = false;
  bool after_return_ = false;  // the last line ended with '\r': an immediate '\n' belongs to that line end
  bool line_has_bytes_ = false;
  bool too_large_ = false;
};

}  // namespace relay::net
