#include "net/event_stream.h"

#include <utility>

namespace relay::net {

namespace {
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
}

std::vector<ServerEvent> EventStream::feed(std::string_view bytes) {
  std::vector<ServerEvent> events;
  while (!bytes.empty()) {
    if (std::exchange(after_return_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const auto end = bytes.find_first_of("\r\n");
    append(bytes.substr(0, end));
    if (end == std::string_view::npos) break;
    after_return_ = bytes[end] == '\r';
    end_line(events);
    bytes.remove_prefix(end + 1);
  }
  return events;
}

void EventStream::append(std::string_view bytes) {
  if (bytes.empty()) return;
  line_has_bytes_ = true;
  if (too_large_) return;
  if (line_.size() + event_.data.size() + bytes.size() > max_bytes_) {
    too_large_ = true;
    std::string{}.swap(line_);
    std::string{}.swap(event_.data);
    return;
  }
  line_.append(bytes);
}

void EventStream::end_line(std::vector<ServerEvent>& events) {
  std::string_view line = line_;
  if (std::exchange(first_line_, false) && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
    line_has_bytes_ = !line.empty();
  }
  if (std::exchange(line_has_bytes_, false)) {
    const auto colon = line.find(':');
    auto value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (!too_large_) add_field(line.substr(0, colon), value);
  } else {
    if (too_large_) ++skipped_;
    if (has_data_ && !too_large_) events.push_back(std::move(event_));
    event_ = {};
    has_data_ = too_large_ = false;
  }
  line_.clear();
}

/// A comment has an empty name. `id` and `retry` serve resumption, which the servers we read do not offer.
void EventStream::add_field(std::string_view name, std::string_view value) {
  if (name == "event") event_.type = value;
  if (name != "data") return;
  if (std::exchange(has_data_, true)) event_.data.push_back('\n');
  event_.data.append(value);
}

}  // namespace relay::net
