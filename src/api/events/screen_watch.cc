#include "api/events/screen_watch.h"

#include "base/format.h"
#include "host/control/terminal_frame.h"
#include "text/json_writer.h"

namespace relay::api {

std::size_t incomplete_utf8_bytes(std::string_view bytes) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, bytes.size()); ++back) {
    const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if (byte < 0x80U) return 0;
    if (byte < 0xC0U) continue;  // continuation byte
    const std::size_t length = byte >= 0xF0U ? 4 : byte >= 0xE0U ? 3 : 2;
    return length > back ? back : 0;
  }
  return 0;
}

ScreenWatch::ScreenWatch(net::Network& network, std::string agent, const std::string& socket, ScreenListener& listener)
    : agent_{std::move(agent)}, listener_{listener} {
  network.connect(socket, [this, alive = lifetime_.watch()](Result<std::unique_ptr<net::Stream>> stream) {
    if (alive) on_connected(std::move(stream));
  });
}

ScreenWatch::~ScreenWatch() = default;

void ScreenWatch::on_connected(Result<std::unique_ptr<net::Stream>> stream) {
  if (!stream) return listener_.on_ended(format("{} has just ended", agent_));
  stream_ = *std::move(stream);
  stream_->start(*this);
  std::string frame;
  protocol::append_frame(
      frame, protocol::HeaderStyle::Four,
      text::JsonWriter{}.field("method", "attach").field("mode", "view").field("columns", 80).field("rows", 24).take());
  stream_->write(frame);
  if (paused_) stream_->pause_reading();
}

void ScreenWatch::on_bytes(std::string_view bytes) {
  const auto alive = lifetime_.watch();
  reader_.push(bytes);
  while (alive) {
    const auto frame = reader_.next();
    if (!frame) return finish(format("invalid data from the host of {}: {}", agent_, frame.error().message()));
    if (!*frame) return;
    if (const auto output = host::terminal_bytes(**frame))
      on_terminal(*output);
    else if (const auto object = parse_json_object(**frame))
      on_object(*object);
  }
}

void ScreenWatch::on_terminal(std::string_view bytes) {
  const auto bytes_held = std::exchange(partial_character_, {}).append(bytes);
  const std::string_view text{bytes_held.data(), bytes_held.size() - incomplete_utf8_bytes(bytes_held)};
  partial_character_ = bytes_held.substr(text.size());
  if (std::exchange(full_screen_next_, false)) return listener_.on_screen(columns_, rows_, text);
  if (!text.empty()) listener_.on_output(text);
}

void ScreenWatch::on_object(const json::object& object) {
  const auto event = string_member(object, "event").value_or("");
  if (bool_member(object, "ok") == false) return finish(string_member(object, "error").value_or("the host refused"));
  if (event == "exit") return finish(format("{} has ended", agent_));
  if (event != "resized" && string_member(object, "method") != "attach") return;
  columns_ = static_cast<int>(integer_member(object, "columns").value_or(80));
  rows_ = static_cast<int>(integer_member(object, "rows").value_or(24));
  full_screen_next_ = true;
  partial_character_.clear();
}

void ScreenWatch::on_closed(const std::string&) { finish(format("{} has ended, or its host was killed", agent_)); }

void ScreenWatch::finish(const std::string& reason) {
  lifetime_.end();  // on_bytes() above us stops
  stream_.reset();
  listener_.on_ended(reason);
}

void ScreenWatch::pause() {
  if (std::exchange(paused_, true) || !stream_) return;
  stream_->pause_reading();
}

void ScreenWatch::resume() {
  if (!std::exchange(paused_, false) || !stream_) return;
  stream_->resume_reading();
}

}  // namespace relay::api
