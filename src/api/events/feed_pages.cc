// What happened before the ring, page by page, for each reader at its own pace.
#include <algorithm>

#include "api/events/feed.h"

namespace relay::api {

void Feed::want_page(FeedReader& reader) {
  if (reader.asking_ || reader.outlet_.waiting_bytes() >= limits_.waiting_bytes) return;
  reader.asking_ = true;
  want_pages_.push_back(reader.id_);
  ask_pages();
}

void Feed::ask_pages() {
  while (open_pages_ < limits_.open_pages && !want_pages_.empty()) {
    const auto found = readers_.find(want_pages_.front());
    want_pages_.pop_front();
    if (found == readers_.end()) continue;
    auto& reader = *found->second;
    if (reader.mode_ != Mode::Replaying) {  // the log began anew meanwhile
      reader.asking_ = false;
      continue;
    }
    const auto& wish = reader.audience_->wish();
    json::object query{{"after", reader.cursor_}, {"limit", limits_.page_rows}};
    const auto add = [&](std::string_view name, const std::vector<std::string>& words) {
      if (!words.empty()) query[name] = json::array(words.begin(), words.end());
    };
    add("types", wish.types);
    add("agents", wish.agents);
    add("sessions", wish.sessions);
    if (wish.since) query["sinceTs"] = *wish.since;
    ++open_pages_;
    relay_.request(
        protocol::MessageType::EventsQuery, std::move(query),
        [weak = std::weak_ptr{self_}, id = reader.id_, newest = ring_.newest()](Result<json::object> answer) {
          if (const auto self = weak.lock()) (*self)->on_page(id, newest, answer);
        });
  }
}

void Feed::on_page(std::uint64_t id, std::uint64_t newest_then, const Result<json::object>& answer) {
  --open_pages_;
  if (const auto found = readers_.find(id); found != readers_.end()) {
    auto& reader = *found->second;
    reader.asking_ = false;
    const auto newest = answer ? integer_member(*answer, "newest") : std::nullopt;
    if (!newest) {
      retry_soon(reader);
    } else if (static_cast<std::uint64_t>(*newest) < newest_then && newest_then <= ring_.newest()) {
      begin_anew(static_cast<std::uint64_t>(*newest));
      relay_.follow(ring_.newest(), this);
    } else if (reader.mode_ == Mode::Replaying) {
      take_page(reader, *answer);
    }
  }
  ask_pages();
}

void Feed::take_page(FeedReader& reader, const json::object& page) {
  const auto number = [&](std::string_view name) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(integer_member(page, name).value_or(0), 0));
  };
  const auto dialect = reader.audience_->dialect();
  const auto newest = number("newest"), oldest = number("oldest");
  const auto before = reader.cursor_;
  if (newest < reader.cursor_) {
    reader.outlet_.write(net::make_piece(reset_text(dialect, newest)));
    reader.cursor_ = newest;
    reader.mode_ = Mode::Live;
    return serve(reader);
  }
  const auto lost = oldest == 0 ? newest : oldest - 1;
  if (lost > reader.cursor_) {
    if (reader.reports_gaps_) reader.outlet_.write(net::make_piece(gap_text(dialect, reader.cursor_ + 1, lost)));
    reader.cursor_ = lost;
  }
  reader.reports_gaps_ = true;

  BlockWriter writer{dialect};
  bool all = true;
  const auto* events = array_member(page, "events");
  for (std::size_t i = 0; events != nullptr && all && i < events->size(); ++i) {
    const auto* object = (*events)[i].if_object();
    const auto told = object != nullptr ? integer_member(*object, "_seq").value_or(0) : 0;
    if (told <= 0 || static_cast<std::uint64_t>(told) <= reader.cursor_) continue;
    reader.cursor_ = static_cast<std::uint64_t>(told);
    if (const auto event = read_feed_event(reader.cursor_, json::serialize(*object))) writer.add(*event);
    all = reader.outlet_.waiting_bytes() + writer.bytes() < limits_.waiting_bytes;
  }
  counts_.sent += writer.events();
  for (auto& piece : writer.take()) reader.outlet_.write(std::move(piece));
  if (all) reader.cursor_ = std::max(reader.cursor_, number("nextAfter"));
  if (reader.cursor_ >= ring_.base()) reader.mode_ = Mode::Live;
  if (reader.mode_ == Mode::Replaying && reader.cursor_ == before) return retry_soon(reader);
  serve(reader);
}

void Feed::retry_soon(FeedReader& reader) {
  reader.asking_ = true;
  retries_.push_back(reader.id_);
  if (retry_timer_) return;
  retry_timer_ = loop_.after(limits_.retry, [this] {
    retry_timer_.reset();
    for (const auto id : std::exchange(retries_, {}))
      if (const auto found = readers_.find(id); found != readers_.end()) {
        found->second->asking_ = false;
        serve(*found->second);
      }
  });
}

}  // namespace relay::api
