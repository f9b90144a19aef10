#include "api/events/feed.h"

#include <algorithm>

#include "api/events/sse_reader.h"
#include "base/format.h"
#include "base/log.h"

namespace relay::api {

FeedReader::~FeedReader() { feed_.forget(*this); }

void FeedReader::on_drained() { feed_.serve(*this); }

Feed::Feed(net::EventLoop& loop, WorkspaceClient& relay, FeedLimits limits)
    : loop_{loop},
      relay_{relay},
      limits_{limits},
      ring_{limits.ring_events, limits.ring_bytes},
      self_{std::make_shared<Feed*>(this)} {}

Feed::~Feed() {
  on_newest(fail("the workspace was closed"));  // nobody waits for an answer that does not come
  close("the workspace was closed");
  if (known_) relay_.follow(0, nullptr);
}

// ---- who reads

void Feed::open_sse(EventSubscription wish, Call call) {
  if (readers_.size() + waiting_.size() >= limits_.readers) {
    ++counts_.refused;
    return call.refuse(
        {503, "BUSY", format("{} read events already; try again later", limits_.readers), kStreamAgainAfter});
  }
  when_known([this, wish = std::move(wish), call = std::move(call)](const Result<std::uint64_t>& newest) mutable {
    if (!newest) return call.refuse({503, "UNAVAILABLE", newest.error().message(), kStreamAgainAfter});
    begin_sse(wish, *newest, std::move(call));
  });
}

void Feed::begin_sse(const EventSubscription& wish, std::uint64_t newest, Call call) {
  auto headers = call.stream_headers();
  auto reply = call.take_reply();
  auto reader = std::make_unique<SseReader>(*this);
  if (!reply || !reader->open(*std::move(reply), std::move(headers))) return;
  auto& opened = *reader;
  sse_.emplace(&opened, std::move(reader));
  const auto after = wish.after.value_or(wish.since ? 0 : newest);
  auto place = read(wish, after, StreamFormat::Sse, opened);
  if (!place) return opened.end(after, "too many read events already; come back later");
  opened.read(std::move(place));
}

void Feed::when_known(Known known) {
  if (known_) {
    if (readers_.empty()) linger();
    return known(ring_.newest());
  }
  waiting_.push_back(std::move(known));
  if (waiting_.size() == 1) ask_newest([this](const Result<std::uint64_t>& newest) { on_newest(newest); });
}

void Feed::ask_newest(std::move_only_function<void(Result<std::uint64_t>)> told) {
  relay_.request(protocol::MessageType::EventsQuery, {{"newest", true}, {"limit", 1}},
                 [weak = std::weak_ptr{self_}, told = std::move(told)](Result<json::object> answer) mutable {
                   if (weak.expired()) return;
                   if (!answer) return told(Failure{std::move(answer).error()});
                   const auto newest = integer_member(*answer, "newest");
                   if (!newest) return told(fail(string_member(*answer, "error").value_or("it was not understood")));
                   told(static_cast<std::uint64_t>(*newest));
                 });
}

void Feed::on_newest(const Result<std::uint64_t>& newest) {
  auto waiting = std::exchange(waiting_, {});
  if (!newest) {
    const auto why = format("the events of this workspace cannot be read now: {}", newest.error().message());
    for (auto& known : waiting) known(fail(why));
    return;
  }
  ring_.begin_at(*newest);
  shown_ = *newest;
  known_ = true;
  relay_.follow(shown_, this);
  linger();
  for (auto& known : waiting) known(shown_);
}

std::unique_ptr<FeedReader> Feed::read(const EventSubscription& wish, std::uint64_t after, StreamFormat dialect,
                                       FeedSink& outlet) {
  RELAY_ASSERT(known_);
  if (readers_.size() >= limits_.readers) {
    ++counts_.refused;
    return nullptr;
  }
  std::unique_ptr<FeedReader> reader{new FeedReader{*this, next_reader_++, audience_for(wish, dialect), outlet}};
  reader->cursor_ = after;
  reader->reports_gaps_ = wish.after.has_value() || !wish.since;
  if (after >= ring_.base() && after <= ring_.newest()) reader->mode_ = Mode::Live;
  readers_.emplace(reader->id_, reader.get());
  linger_timer_.reset();
  if (!beat_timer_) beat_timer_ = loop_.after(limits_.heartbeat, [this] { beat(); });
  serve(*reader);
  return reader;
}

std::shared_ptr<FeedGroup> Feed::audience_for(const EventSubscription& wish, StreamFormat dialect) {
  std::erase_if(audiences_, [](const auto& audience) { return audience.expired(); });
  for (const auto& weak : audiences_)
    if (auto audience = weak.lock(); audience && audience->is_for(wish, dialect)) return audience;
  auto made = std::make_shared<FeedGroup>(wish, dialect);
  audiences_.push_back(made);
  return made;
}

void Feed::forget(const SseReader& reader) {
  const auto node = sse_.extract(&reader);  // which may be what calls us: it dies when this returns
  (void)node;
}

void Feed::forget(const FeedReader& reader) {
  if (readers_.erase(reader.id_) == 0) return;
  if (readers_.empty()) linger();
}

void Feed::linger() {
  beat_timer_.reset();
  linger_timer_ = loop_.after(limits_.linger, [this] { stop_following(); });
}

void Feed::stop_following() {
  relay_.follow(0, nullptr);
  known_ = false;
  ring_.begin_at(0);
  shown_ = 0;
  unshown_bytes_ = 0;
  show_timer_.reset();
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

// ---- what happens

void Feed::on_event(std::uint64_t number, std::string_view json) {
  auto event = read_feed_event(number, json);
  if (!event) {  // still a number: readers go past it
    log::warn("an event cannot be told", {{"reason", event.error().message()}});
    event = FeedEvent{.number = number, .at = 0, .type = "relay.unreadable", .agent = {}, .session = {}, .json = "{}"};
  }
  if (number > ring_.base() && number <= ring_.newest() && ring_.at(number).json == event->json)
    return;  // heard before
  if (number <= ring_.newest()) begin_anew(number - 1);
  if (number > ring_.newest() + 1) {  // what is missing here is in the past: who has not seen it is replayed
    show();
    ring_.begin_at(number - 1);
    shown_ = number - 1;
    for (const auto& [id, reader] : readers_)
      if (reader->cursor_ < shown_ && reader->mode_ == Mode::Live) {
        reader->mode_ = Mode::Replaying;
        want_page(*reader);
      }
  }
  unshown_bytes_ += event->json.size();
  ring_.push(*std::move(event));
  if (unshown_bytes_ >= limits_.waiting_bytes)
    show();
  else
    show_soon();
}

void Feed::on_disconnected(const std::string& why) {
  log::info("the feed of a workspace was cut; it goes on by itself", {{"workspace", relay_.id()}, {"reason", why}});
  check_log();
}

void Feed::check_log() {
  if (!known_ || std::exchange(checking_, true)) return;
  ask_newest([this, then = ring_.newest()](const Result<std::uint64_t>& newest) {
    checking_ = false;
    if (!newest) {
      check_timer_ = loop_.after(limits_.retry, [this] { check_log(); });
    } else if (known_ && *newest < then && then <= ring_.newest()) {
      begin_anew(*newest);
      relay_.follow(*newest, this);
    }
  });
}

/// None of its events was told to anybody: it is read from its beginning.
void Feed::on_log_replaced() {
  begin_anew(0, "another log of events is there now; this goes on at its beginning");
  relay_.follow(0, this);
}

void Feed::show_soon() {
  if (!show_timer_) show_timer_ = loop_.after(limits_.batch, [this] { show(); });
}

void Feed::show() {
  show_timer_.reset();
  unshown_bytes_ = 0;
  shown_ = ring_.newest();
  std::vector<std::uint64_t> slow;
  for (const auto& [id, reader] : readers_) {
    if (reader->mode_ != Mode::Live) continue;
    if (fell_behind(*reader))
      slow.push_back(id);
    else
      serve(*reader);
  }
  for (const auto id : slow)
    if (const auto found = readers_.find(id); found != readers_.end()) {
      ++counts_.evicted;
      evict(*found->second, "you read more slowly than things happen; come back and go on behind that number");
    }
}

/// Its place has left the ring and it still has bytes to take. One that took all it was given is not to blame.
bool Feed::fell_behind(FeedReader& reader) const {
  return reader.cursor_ < ring_.base() && reader.outlet_.waiting_bytes() > 0;
}

void Feed::serve(FeedReader& reader) {
  if (reader.mode_ == Mode::LetGo) return;
  if (reader.cursor_ < ring_.base()) reader.mode_ = Mode::Replaying;
  if (reader.mode_ == Mode::Replaying) return want_page(reader);
  while (reader.cursor_ < shown_ && reader.outlet_.waiting_bytes() < limits_.waiting_bytes) {
    const auto given = reader.audience_->give(ring_, reader.cursor_, shown_, limits_.waiting_bytes, reader.outlet_);
    reader.cursor_ = given.to;
    counts_.sent += given.events;
  }
}

void Feed::evict(FeedReader& reader, const std::string& reason) {
  reader.mode_ = Mode::LetGo;
  reader.outlet_.end(reader.cursor_, reason);
}

void Feed::beat() {
  static const auto heartbeat = net::make_piece(std::string{kSseHeartbeat});
  for (const auto& [id, reader] : readers_)
    if (reader->audience_->dialect() == StreamFormat::Sse && reader->outlet_.waiting_bytes() == 0)
      reader->outlet_.write(heartbeat);
  beat_timer_ = loop_.after(limits_.heartbeat, [this] { beat(); });
}

void Feed::begin_anew(std::uint64_t number, std::string_view reason) {
  log::warn("the log of events began anew", {{"workspace", relay_.id()}});
  ring_.begin_at(number);
  shown_ = number;
  unshown_bytes_ = 0;
  for (const auto& weak : audiences_)
    if (const auto audience = weak.lock()) audience->forget();
  net::SharedBuffer told[] = {net::make_piece(reset_text(StreamFormat::Sse, number, reason)),
                              net::make_piece(reset_text(StreamFormat::Socket, number, reason))};
  for (const auto& [id, reader] : readers_) {
    if (reader->mode_ == Mode::LetGo) continue;
    reader->outlet_.write(told[static_cast<std::size_t>(reader->audience_->dialect())]);
    reader->cursor_ = number;
    reader->mode_ = Mode::Live;
  }
}

}  // namespace relay::api
