// Replays events from before the ring page by page, at the pace of each reader.
#include <algorithm>

#include "api/events/feed.h"

namespace relay::api {

void Feed::request_page(FeedReader& reader) {
  if (reader.page_pending_ || reader.sink_.waiting_bytes() >= limits_.waiting_bytes) return;
  reader.page_pending_ = true;
  page_queue_.push_back(reader.id_);
  send_page_queries();
}

void Feed::send_page_queries() {
  while (open_pages_ < limits_.max_open_pages && !page_queue_.empty()) {
    const auto found = readers_.find(page_queue_.front());
    page_queue_.pop_front();
    if (found == readers_.end()) continue;
    auto& reader = *found->second;
    if (reader.mode_ != Mode::Replaying) {  // the log was replaced meanwhile
      reader.page_pending_ = false;
      continue;
    }
    const auto& subscription = reader.group_->subscription();
    json::object query{{"after", reader.cursor_}, {"limit", limits_.page_rows}};
    const auto add = [&](std::string_view name, const std::vector<std::string>& values) {
      if (!values.empty()) query[name] = json::array(values.begin(), values.end());
    };
    add("types", subscription.types);
    add("agents", subscription.agents);
    add("sessions", subscription.sessions);
    if (subscription.since) query["sinceTs"] = *subscription.since;
    ++open_pages_;
    workspace_.request(
        protocol::MessageType::EventsQuery, std::move(query),
        [weak = std::weak_ptr{self_}, id = reader.id_, newest = ring_.newest()](Result<json::object> response) {
          if (const auto self = weak.lock()) (*self)->on_page(id, newest, response);
        });
  }
}

void Feed::on_page(std::uint64_t id, std::uint64_t newest_at_query, const Result<json::object>& response) {
  --open_pages_;
  if (const auto found = readers_.find(id); found != readers_.end()) {
    auto& reader = *found->second;
    reader.page_pending_ = false;
    const auto newest = response ? integer_member(*response, "newest") : std::nullopt;
    if (!newest) {
      schedule_retry(reader);
    } else if (static_cast<std::uint64_t>(*newest) < newest_at_query && newest_at_query <= ring_.newest()) {
      reset_log(static_cast<std::uint64_t>(*newest));
      workspace_.follow(ring_.newest(), this);
    } else if (reader.mode_ == Mode::Replaying) {
      take_page(reader, *response);
    }
  }
  send_page_queries();
}

void Feed::take_page(FeedReader& reader, const json::object& page) {
  const auto number = [&](std::string_view name) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(integer_member(page, name).value_or(0), 0));
  };
  const auto stream_format = reader.group_->stream_format();
  const auto newest = number("newest"), oldest = number("oldest");
  const auto before = reader.cursor_;
  if (newest < reader.cursor_) {
    reader.sink_.write(net::make_shared_buffer(reset_text(stream_format, newest)));
    reader.cursor_ = newest;
    reader.mode_ = Mode::Live;
    return serve(reader);
  }
  const auto lost = oldest == 0 ? newest : oldest - 1;
  if (lost > reader.cursor_) {
    if (reader.reports_gaps_)
      reader.sink_.write(net::make_shared_buffer(gap_text(stream_format, reader.cursor_ + 1, lost)));
    reader.cursor_ = lost;
  }
  reader.reports_gaps_ = true;

  BlockWriter writer{stream_format};
  bool room = true;
  const auto* events = array_member(page, "events");
  for (std::size_t i = 0; events != nullptr && room && i < events->size(); ++i) {
    const auto* object = (*events)[i].if_object();
    const auto seq = object != nullptr ? integer_member(*object, "_seq").value_or(0) : 0;
    if (seq <= 0 || static_cast<std::uint64_t>(seq) <= reader.cursor_) continue;
    reader.cursor_ = static_cast<std::uint64_t>(seq);
    if (const auto event = read_feed_event(reader.cursor_, json::serialize(*object))) writer.add(*event);
    room = reader.sink_.waiting_bytes() + writer.bytes() < limits_.waiting_bytes;
  }
  counts_.sent += writer.events();
  for (auto& buffer : writer.take()) reader.sink_.write(std::move(buffer));
  if (room) reader.cursor_ = std::max(reader.cursor_, number("nextAfter"));
  if (reader.cursor_ >= ring_.base()) reader.mode_ = Mode::Live;
  if (reader.mode_ == Mode::Replaying && reader.cursor_ == before) return schedule_retry(reader);
  serve(reader);
}

void Feed::schedule_retry(FeedReader& reader) {
  reader.page_pending_ = true;
  retries_.push_back(reader.id_);
  if (retry_timer_) return;
  retry_timer_ = loop_.after(limits_.retry, [this] {
    retry_timer_.reset();
    for (const auto id : std::exchange(retries_, {}))
      if (const auto found = readers_.find(id); found != readers_.end()) {
        found->second->page_pending_ = false;
        serve(*found->second);
      }
  });
}

}  // namespace relay::api
