/// A fake workspace with an event log. It answers EVENTS_QUERY like the daemon and notifies its listener.
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

class FakeEventWorkspace final : public WorkspaceClient {
 public:
  explicit FakeEventWorkspace(net::EventLoop& loop) : loop_{loop} {}

  std::string hosts_directory;
  std::function<Millis()> delay = [] { return Millis{0}; };  // of a response
  std::function<Millis()> notify_delay = [] { return Millis{0}; };
  std::string error;                              // not empty: every request fails with it
  std::map<std::string, json::object> responses;  // to other requests, by frame type
  std::map<std::string, std::function<void()>> on_request;
  std::size_t page_queries = 0, open_requests = 0, max_open_requests = 0;

  [[nodiscard]] std::uint64_t newest() const { return log_.size(); }
  [[nodiscard]] bool is_followed() const { return listener_ != nullptr; }

  std::uint64_t emit(std::string_view type, std::string_view agent = "Alice", std::string_view session = "s-1",
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
  /// Prunes older events.
  void drop_before(std::uint64_t number) { oldest_ = number; }
  /// Starts another log, as with a new store.
  void reset_log() {
    log_.clear();
    oldest_ = 1;
    notified_ = std::min<std::uint64_t>(notified_, 0);
  }
  /// Replaces the log as after a reconnect to a new store.
  void reconnect_with_new_store(const std::function<void()>& fill_log) {
    auto* listener = std::exchange(listener_, nullptr);  // no event until it follows again
    reset_log();
    fill_log();
    if (listener != nullptr) listener->on_log_replaced();
  }
  void disconnect() {
    if (listener_ != nullptr) listener_->on_disconnected("the daemon disconnected");
  }

  [[nodiscard]] const std::string& id() const override { return id_; }
  [[nodiscard]] const std::string& root() const override { return root_; }
  [[nodiscard]] const std::string& hosts() const override { return hosts_directory; }

  void request(protocol::MessageType type, json::object payload, OnResponse on_response) override {
    max_open_requests = std::max(max_open_requests, ++open_requests);
    if (type == protocol::MessageType::EventsQuery) ++page_queries;
    const auto number = next_++;
    pending_[number] = loop_.after(
        delay(), [this, number, type, payload = std::move(payload), on_response = std::move(on_response)]() mutable {
          const auto timer = pending_.extract(number);
          --open_requests;
          if (!error.empty()) return on_response(fail(error));
          if (type == protocol::MessageType::EventsQuery) return on_response(round_trip(page(round_trip(payload))));
          const auto name = std::string{protocol::name_of(type)};
          if (const auto hook = on_request.find(name); hook != on_request.end()) hook->second();
          const auto found = responses.find(name);
          on_response(found == responses.end() ? Result<json::object>{fail("no response set")} : found->second);
        });
  }

  void follow(std::uint64_t after, EventListener* listener) override {
    listener_ = listener;
    notified_ = std::min<std::uint64_t>(after, log_.size());
    notify_soon();
  }

 private:
  struct Row {
    std::string type, agent, session;
    WallMs at;
    std::string json;
  };

  /// The object after serialization and parsing.
  static json::object round_trip(const json::object& object) {
    return parse_json_object(json::serialize(object)).value();
  }
  [[nodiscard]] json::object page(const json::object& query) const {
    const auto strings = [&](std::string_view name) {
      std::vector<std::string> list;
      if (const auto* array = array_member(query, name))
        for (const auto& one : *array) list.emplace_back(one.as_string());
      return list;
    };
    const records::EventFilter filter{strings("types"), strings("agents"), strings("sessions")};
    const auto limit = static_cast<std::size_t>(integer_member(query, "limit").value_or(100));
    const auto since = integer_member(query, "sinceTs").value_or(0);
    const auto after = static_cast<std::uint64_t>(integer_member(query, "after").value_or(0));
    json::array events;
    auto reached = std::max<std::uint64_t>(after, log_.size());
    bool more = false;
    for (auto number = std::max(after + 1, oldest_); number <= log_.size(); ++number) {
      const auto& row = log_[number - 1];
      if (row.at < since || !filter.matches(row.type, row.agent, row.session)) continue;
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
    if (listener_ == nullptr || notify_timer_) return;
    notify_timer_ = loop_.after(notify_delay(), [this] {
      notify_timer_.reset();
      while (listener_ != nullptr && notified_ < log_.size()) {
        ++notified_;
        if (notified_ >= oldest_) listener_->on_event(notified_, std::string{log_[notified_ - 1].json});
      }
    });
  }

  net::EventLoop& loop_;
  std::string id_ = "p-1", root_ = "/home/me/project";
  std::vector<Row> log_;
  std::uint64_t oldest_ = 1, notified_ = 0, next_ = 0;
  EventListener* listener_ = nullptr;
  std::unique_ptr<net::Timer> notify_timer_;
  std::map<std::uint64_t, std::unique_ptr<net::Timer>> pending_;
};

}  // namespace relay::api::testing
