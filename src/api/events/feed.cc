#include "api/events/feed.h"

#include <algorithm>

#include "api/events/sse_reader.h"
#include "base/format.h"
#include "base/log.h"

namespace relay::api {

FeedReader::~FeedReader() { feed_.remove(*this); }

void FeedReader::on_drained() { feed_.serve(*this); }

Feed::Feed(net::EventLoop& loop, WorkspaceClient& workspace, FeedLimits limits)
    : loop_{loop},
      workspace_{workspace},
      limits_{limits},
      ring_{limits.ring_events, limits.ring_bytes},
      self_{std::make_shared<Feed*>(this)} {}

Feed::~Feed() {
  on_newest(fail("the workspace was closed"));  // fails the pending callbacks
  close("the workspace was closed");
  if (following_) workspace_.follow(0, nullptr);
}

// ---- readers

void Feed::open_sse(EventSubscription subscription, Call call) {
  if (readers_.size() + newest_waiters_.size() >= limits_.readers) {
    ++counts_.refused;
    return call.refuse({503, "BUSY", format("{} clients are already reading events; try again later", limits_.readers),
                        kStreamRetryAfter});
  }
  when_following([this, subscription = std::move(subscription),
                  call = std::move(call)](const Result<std::uint64_t>& newest) mutable {
    if (!newest) return call.refuse({503, "UNAVAILABLE", newest.error().message(), kStreamRetryAfter});
    start_sse(subscription, *newest, std::move(call));
  });
}

void Feed::start_sse(const EventSubscription& subscription, std::uint64_t newest, Call call) {
  auto headers = call.stream_headers();
  auto reply = call.take_reply();
  auto reader = std::make_unique<SseReader>(*this);
  if (!reply || !reader->open(*std::move(reply), std::move(headers))) return;
  auto& opened = *reader;
  sse_.emplace(&opened, std::move(reader));
  const auto after = subscription.after.value_or(subscription.since ? 0 : newest);
  auto position = open_reader(subscription, after, StreamFormat::Sse, opened);
  if (!position) return opened.end(after, "too many clients are already reading events; try again later");
  opened.attach(std::move(position));
}

void Feed::when_following(OnNewest on_newest) {
  if (following_) {
    if (readers_.empty()) schedule_unfollow();
    return on_newest(ring_.newest());
  }
  newest_waiters_.push_back(std::move(on_newest));
  if (newest_waiters_.size() == 1)
    query_newest([this](const Result<std::uint64_t>& newest) { this->on_newest(newest); });
}

void Feed::query_newest(std::move_only_function<void(Result<std::uint64_t>)> on_result) {
  workspace_.request(
      protocol::MessageType::EventsQuery, {{"newest", true}, {"limit", 1}},
      [weak = std::weak_ptr{self_}, on_result = std::move(on_result)](Result<json::object> response) mutable {
        if (weak.expired()) return;
        if (!response) return on_result(Failure{std::move(response).error()});
        const auto newest = integer_member(*response, "newest");
        if (!newest) return on_result(fail(string_member(*response, "error").value_or("malformed response")));
        on_result(static_cast<std::uint64_t>(*newest));
      });
}

void Feed::on_newest(const Result<std::uint64_t>& newest) {
  auto waiters = std::exchange(newest_waiters_, {});
  if (!newest) {
    const auto reason = format("cannot read the events of this workspace: {}", newest.error().message());
    for (auto& waiter : waiters) waiter(fail(reason));
    return;
  }
  ring_.reset_to(*newest);
  flushed_ = *newest;
  following_ = true;
  workspace_.follow(flushed_, this);
  schedule_unfollow();
  for (auto& waiter : waiters) waiter(flushed_);
}

std::unique_ptr<FeedReader> Feed::open_reader(const EventSubscription& subscription, std::uint64_t after,
                                              StreamFormat stream_format, FeedSink& sink) {
  RELAY_ASSERT(following_);
  if (readers_.size() >= limits_.readers) {
    ++counts_.refused;
    return nullptr;
  }
  std::unique_ptr<FeedReader> reader{
      new FeedReader{*this, next_reader_++, group_for(subscription, stream_format), sink}};
  reader->cursor_ = after;
  reader->reports_gaps_ = subscription.after.has_value() || !subscription.since;
  if (after >= ring_.base() && after <= ring_.newest()) reader->mode_ = Mode::Live;
  readers_.emplace(reader->id_, reader.get());
  idle_timer_.reset();
  if (!heartbeat_timer_) heartbeat_timer_ = loop_.after(limits_.heartbeat, [this] { send_heartbeats(); });
  serve(*reader);
  return reader;
}

std::shared_ptr<FeedGroup> Feed::group_for(const EventSubscription& subscription, StreamFormat stream_format) {
  std::erase_if(groups_, [](const auto& group) { return group.expired(); });
  for (const auto& weak : groups_)
    if (auto group = weak.lock(); group && group->matches(subscription, stream_format)) return group;
  auto made = std::make_shared<FeedGroup>(subscription, stream_format);
  groups_.push_back(made);
  return made;
}

void Feed::remove(const SseReader& reader) {
  const auto node = sse_.extract(&reader);  // may be the caller: destroyed when this returns
  (void)node;
}

void Feed::remove(const FeedReader& reader) {
  if (readers_.erase(reader.id_) == 0) return;
  if (readers_.empty()) schedule_unfollow();
}

void Feed::schedule_unfollow() {
  heartbeat_timer_.reset();
  idle_timer_ = loop_.after(limits_.idle_timeout, [this] { stop_following(); });
}

void Feed::stop_following() {
  workspace_.follow(0, nullptr);
  following_ = false;
  ring_.reset_to(0);
  flushed_ = 0;
  unflushed_bytes_ = 0;
  flush_timer_.reset();
  check_timer_.reset();
}

void Feed::close(const std::string& reason) {
  std::vector<std::uint64_t> all;
  for (const auto& [id, reader] : readers_) all.push_back(id);
  for (const auto id : all)
    if (const auto found = readers_.find(id); found != readers_.end()) evict(*found->second, reason);
}

FeedCounts Feed::counts() const {
  auto counts = counts_;
  counts.readers = readers_.size();
  return counts;
}

// ---- events

void Feed::on_event(std::uint64_t number, std::string_view json) {
  auto event = read_feed_event(number, json);
  if (!event) {  // keep its number, so that readers pass it
    log::warn("unreadable event", {{"error", event.error().message()}});
    event = FeedEvent{.number = number, .at = 0, .type = "relay.unreadable", .agent = {}, .session = {}, .json = "{}"};
  }
  if (number > ring_.base() && number <= ring_.newest() && ring_.at(number).json == event->json)
    return;  // already received
  if (number <= ring_.newest()) reset_log(number - 1);
  if (number > ring_.newest() + 1) {  // events are missing here: readers that need them are replayed by pages
    flush();
    ring_.reset_to(number - 1);
    flushed_ = number - 1;
    for (const auto& [id, reader] : readers_)
      if (reader->cursor_ < flushed_ && reader->mode_ == Mode::Live) {
        reader->mode_ = Mode::Replaying;
        request_page(*reader);
      }
  }
  unflushed_bytes_ += event->json.size();
  ring_.push(*std::move(event));
  if (unflushed_bytes_ >= limits_.waiting_bytes)
    flush();
  else
    schedule_flush();
}

void Feed::on_disconnected(const std::string& reason) {
  log::info("event feed disconnected; reconnecting", {{"workspace", workspace_.id()}, {"reason", reason}});
  check_log();
}

void Feed::check_log() {
  if (!following_ || std::exchange(checking_, true)) return;
  query_newest([this, previous = ring_.newest()](const Result<std::uint64_t>& newest) {
    checking_ = false;
    if (!newest) {
      check_timer_ = loop_.after(limits_.retry, [this] { check_log(); });
    } else if (following_ && *newest < previous && previous <= ring_.newest()) {
      reset_log(*newest);
      workspace_.follow(*newest, this);
    }
  });
}

/// No event of the new log was sent to a reader, so it is read from its start.
void Feed::on_log_replaced() {
  reset_log(0, "the event log was replaced; continuing at the start of the new one");
  workspace_.follow(0, this);
}

void Feed::schedule_flush() {
  if (!flush_timer_) flush_timer_ = loop_.after(limits_.batch, [this] { flush(); });
}

void Feed::flush() {
  flush_timer_.reset();
  unflushed_bytes_ = 0;
  flushed_ = ring_.newest();
  std::vector<std::uint64_t> slow;
  for (const auto& [id, reader] : readers_) {
    if (reader->mode_ != Mode::Live) continue;
    if (has_fallen_behind(*reader))
      slow.push_back(id);
    else
      serve(*reader);
  }
  for (const auto id : slow)
    if (const auto found = readers_.find(id); found != readers_.end()) {
      ++counts_.evicted;
      evict(*found->second, "the reader was too slow; reconnect and resume after that number");
    }
}

/// True when the cursor has left the ring and the reader has a backlog. A reader without a backlog is not too slow.
bool Feed::has_fallen_behind(FeedReader& reader) const {
  return reader.cursor_ < ring_.base() && reader.sink_.waiting_bytes() > 0;
}

void Feed::serve(FeedReader& reader) {
  if (reader.mode_ == Mode::Evicted) return;
  if (reader.cursor_ < ring_.base()) reader.mode_ = Mode::Replaying;
  if (reader.mode_ == Mode::Replaying) return request_page(reader);
  while (reader.cursor_ < flushed_ && reader.sink_.waiting_bytes() < limits_.waiting_bytes) {
    const auto range =
        reader.group_->write_events(ring_, reader.cursor_, flushed_, limits_.waiting_bytes, reader.sink_);
    reader.cursor_ = range.to;
    counts_.sent += range.events;
  }
}

void Feed::evict(FeedReader& reader, const std::string& reason) {
  reader.mode_ = Mode::Evicted;
  reader.sink_.end(reader.cursor_, reason);
}

void Feed::send_heartbeats() {
  static const auto heartbeat = net::make_shared_buffer(std::string{kSseHeartbeat});
  for (const auto& [id, reader] : readers_)
    if (reader->group_->stream_format() == StreamFormat::Sse && reader->sink_.waiting_bytes() == 0)
      reader->sink_.write(heartbeat);
  heartbeat_timer_ = loop_.after(limits_.heartbeat, [this] { send_heartbeats(); });
}

void Feed::reset_log(std::uint64_t number, std::string_view reason) {
  log::warn("event log replaced", {{"workspace", workspace_.id()}});
  ring_.reset_to(number);
  flushed_ = number;
  unflushed_bytes_ = 0;
  for (const auto& weak : groups_)
    if (const auto group = weak.lock()) group->clear_blocks();
  net::SharedBuffer notices[] = {net::make_shared_buffer(reset_text(StreamFormat::Sse, number, reason)),
                                 net::make_shared_buffer(reset_text(StreamFormat::WebSocket, number, reason))};
  for (const auto& [id, reader] : readers_) {
    if (reader->mode_ == Mode::Evicted) continue;
    reader->sink_.write(notices[static_cast<std::size_t>(reader->group_->stream_format())]);
    reader->cursor_ = number;
    reader->mode_ = Mode::Live;
  }
}

}  // namespace relay::api
