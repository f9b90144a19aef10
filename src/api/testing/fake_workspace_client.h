/// A workspace that a test plays: a log of events that answers EVENTS_QUERY as the daemon does and tells who follows.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/client/workspace_client.h"
#include "base/format.h"
#include "net/event_loop.h"
#include "records/events.h"

namespace relay::api::testing {

class FakeRelay final : public WorkspaceClient {
 public:
  explicit FakeRelay(net::EventLoop& loop) : loop_{loop} {}

  std::string hosts_directory;
  std::function<Millis()> delay = [] { return Millis{0}; };  // of an answer
  std::function<Millis()> notify_delay = [] { return Millis{0}; };
  std::string error;                            // not empty: every question fails so
  std::map<std::string, json::object> answers;  // to other questions, by the frame's name
  std::map<std::string, std::function<void()>> when_asked;
  std::size_t pages = 0, open_questions = 0, most_open = 0;

  [[nodiscard]] std::uint64_t newest() const { return log_.size(); }
  [[nodiscard]] bool followed() const { return follower_ != nullptr; }

  std::uint64_t happen(std::string_view type, std::string_view agent = "Alice", std::string_view session = "s-1",
                       std::string_view text = "") {
    const auto number = log_.size() + 1;
    log_.push_back({std::string{type}, std::string{agent}, std::string{session}, loop_.now().wall,
                    json::serialize(json::object{{"type", type},
                                                 {"sessionId", session},
                                                 {"text", text},
                                                 {"_seq", number},
                                                 {"_ts", loop_.now().wall},
                                                 {"_sessionId", session},
                                                 {"_agentName", agent}})});
    notify_soon();
    return number;
  }
  /// Older ones are no longer kept.
  void keep_from(std::uint64_t number) { oldest_ = number; }
  /// Another log, as after the store was thrown away.
  void begin_anew() {
    log_.clear();
    oldest_ = 1;
    told_ = std::min<std::uint64_t>(told_, 0);
  }
  /// The same, as the connection tells it that comes back.
  void come_back_with_another_store(const std::function<void()>& what_happened_there) {
    auto* follower = std::exchange(follower_, nullptr);  // nothing is told until it follows again
    begin_anew();
    what_happened_there();
    if (follower != nullptr) follower->on_log_replaced();
  }
  void cut() {
    if (follower_ != nullptr) follower_->on_disconnected("the daemon went away");
  }

  [[nodiscard]] const std::string& id() const override { return id_; }
  [[nodiscard]] const std::string& root() const override { return root_; }
  [[nodiscard]] const std::string& hosts() const override { return hosts_directory; }

  void request(protocol::MessageType type, json::object payload, Answer answer) override {
    most_open = std::max(most_open, ++open_questions);
    if (type == protocol::MessageType::EventsQuery) ++pages;
    const auto place = next_++;
    pending_[place] =
        loop_.after(delay(), [this, place, type, payload = std::move(payload), answer = std::move(answer)]() mutable {
          const auto timer = pending_.extract(place);
          --open_questions;
          if (!error.empty()) return answer(fail(error));
          if (type == protocol::MessageType::EventsQuery) return answer(as_heard(page(as_heard(payload))));
          const auto name = std::string{protocol::name_of(type)};
          if (const auto told = when_asked.find(name); told != when_asked.end()) told->second();
          const auto known = answers.find(name);
          answer(known == answers.end() ? Result<json::object>{fail("nobody answers that")} : known->second);
        });
  }

  void follow(std::uint64_t after, EventListener* follower) override {
    follower_ = follower;
    told_ = std::min<std::uint64_t>(after, log_.size());
    notify_soon();
  }

 private:
  struct Row {
    std::string type, agent, session;
    WallMs at;
    std::string json;
  };

  /// As it is after its way over the wire.
  static json::object as_heard(const json::object& object) {
    return parse_json_object(json::serialize(object)).value();
  }
  [[nodiscard]] json::object page(const json::object& wanted) const {
    const auto words = [&](std::string_view name) {
      std::vector<std::string> list;
      if (const auto* array = array_member(wanted, name))
        for (const auto& one : *array) list.emplace_back(one.as_string());
      return list;
    };
    const records::EventFilter filter{words("types"), words("agents"), words("sessions")};
    const auto limit = static_cast<std::size_t>(integer_member(wanted, "limit").value_or(100));
    const auto since = integer_member(wanted, "sinceTs").value_or(0);
    const auto after = static_cast<std::uint64_t>(integer_member(wanted, "after").value_or(0));
    json::array events;
    auto reached = std::max<std::uint64_t>(after, log_.size());
    bool more = false;
    for (auto number = std::max(after + 1, oldest_); number <= log_.size(); ++number) {
      const auto& row = log_[number - 1];
      if (row.at < since || !filter.takes(row.type, row.agent, row.session)) continue;
      if (events.size() == limit) {
        more = true;
        reached = static_cast<std::uint64_t>(events.back().as_object().at("_seq").as_int64());
        break;
      }
      events.push_back(parse_json(row.json).value());
    }
    const auto oldest = oldest_ > log_.size() ? 0 : oldest_;
    return {{"events", std::move(events)},
            {"nextAfter", reached},
            {"more", more},
            {"oldest", oldest},
            {"newest", log_.size()}};
  }

  void notify_soon() {
    if (follower_ == nullptr || telling_) return;
    telling_ = loop_.after(notify_delay(), [this] {
      telling_.reset();
      while (follower_ != nullptr && told_ < log_.size()) {
        ++told_;
        if (told_ >= oldest_) follower_->on_event(told_, std::string{log_[told_ - 1].json});
      }
    });
  }

  net::EventLoop& loop_;
  std::string id_ = "p-1", root_ = "/home/me/project";
  std::vector<Row> log_;
  std::uint64_t oldest_ = 1, told_ = 0, next_ = 0;
  EventListener* follower_ = nullptr;
  std::unique_ptr<net::Timer> telling_;
  std::map<std::uint64_t, std::unique_ptr<net::Timer>> pending_;
};

}  // namespace relay::api::testing
