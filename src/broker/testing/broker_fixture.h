/// A broker with a real memory store, a clock moved by hand, and clients that keep what they received.
///
/// Commits happen at once unless held (`hold_commits`), so that a test can look between "requested" and "durable".
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/random.h"
#include "broker/broker.h"
#include "store/memory/store.h"
#include "store/queue/store_batch.h"

namespace relay::broker::testing {

using Frame = json::object;

inline std::string text(const Frame& frame, std::string_view name) { return string_member(frame, name).value_or(""); }
inline const Frame& payload(const Frame& frame) { return frame.at("payload").as_object(); }
inline std::string body(const Frame& frame) { return text(payload(frame), "body"); }

inline constexpr std::string_view kSystemToken = "the token of this fixture";

class BrokerFixture {
 public:
  explicit BrokerFixture(BrokerLimits limits = {}) : limits_{limits} { restart(); }

  /// When the daemon around the broker started, from the next restart on; none: with the broker.
  std::optional<SteadyTime> daemon_started;

  /// A new broker from what the store holds; connections are gone.
  void restart() {
    waiting_.clear();
    received_.clear();
    closed_.clear();
    host_requests_.clear();
    ServerInfo info{"test", "memory", false, {}, {}};
    info.system_token = kSystemToken;
    info.started = daemon_started;
    broker_ = std::make_unique<Broker>(limits_, std::move(info), *store_.load(), random_, now_);
  }

  /// From the user's own shell, unless another origin is given.
  ConnectionId connect(protocol::PeerOrigin origin = protocol::user_origin()) {
    const ConnectionId id{++last_connection_};
    broker_->on_connect(id, {1000, 42, std::move(origin)}, now_);
    settle();
    return id;
  }

  void say(ConnectionId from, const std::string& frame) {
    broker_->on_frame(from, frame, now_);
    settle();
  }

  /// HELLO with the given members of the payload beside `agent`, e.g. `"session":{"resume_token":"…"}`.
  ConnectionId join(const std::string& name, const std::string& more = {}) {
    const ConnectionId id = connect();
    hello(id, name, more);
    return id;
  }
  ConnectionId join_from(protocol::PeerOrigin origin, const std::string& name, const std::string& more = {}) {
    const ConnectionId id = connect(std::move(origin));
    hello(id, name, more);
    return id;
  }
  /// The command line's own shows the token.
  void hello(ConnectionId id, const std::string& name, std::string more = {}) {
    if (name == "cli" && !more.contains("session"))
      more += format(R"({}"session":{{"system_token":"{}"}})", more.empty() ? "" : ",", kSystemToken);
    say(id, format(R"({{"v":1,"type":"HELLO","id":"h{}","ts":1,"payload":{{"agent":"{}"{}{}}}}})", id.value(), name,
                   more.empty() ? "" : ",", more));
  }
  /// A client of this project: expects answers to its SENDs.
  ConnectionId join_ours(const std::string& name, const std::string& more = {}) {
    return join(name, R"("capabilities":{"ack":true,"send_ack":true})" + (more.empty() ? "" : "," + more));
  }

  void send(ConnectionId from, const std::string& id, const std::string& to, const std::string& body,
            const std::string& more = {}) {
    say(from,
        format(R"({{"v":1,"type":"SEND","id":"{}","ts":1,"to":"{}","payload":{{"kind":"message","body":"{}"}}{}{}}})",
               id, to, body, more.empty() ? "" : ",", more));
  }
  void ack(ConnectionId from, const Frame& deliver) {
    say(from,
        format(R"({{"v":1,"type":"ACK","id":"a","ts":1,"payload":{{"ack_id":"{}","seq":1}}}})", text(deliver, "id")));
  }
  void request(ConnectionId from, const std::string& type, const std::string& payload = "{}",
               const std::string& id = "q1") {
    say(from, format(R"({{"v":1,"type":"{}","id":"{}","ts":1,"payload":{}}})", type, id, payload));
  }

  /// RECEIPT of a session about a delivery: its members beside `deliveryId`, e.g. `"status":"accepted"`.
  void receipt(ConnectionId from, const std::string& delivery, const std::string& members) {
    request(from, "RECEIPT", format(R"({{"deliveryId":"{}",{}}})", delivery, members));
  }
  void report_state(ConnectionId from, const std::string& state, const std::string& more = {}) {
    request(from, "SESSION_STATE", format(R"({{"state":"{}"{}{}}})", state, more.empty() ? "" : ",", more));
  }
  /// The command line: sends requests and messages, receives no deliveries.
  ConnectionId join_user() { return join("cli", R"("_isSystemComponent":true,"capabilities":{"send_ack":true})"); }
  /// CONTROL with these members, and the payload of its response; other frames to `by` are dropped.
  Frame control(ConnectionId by, const std::string& members) {
    received(by);
    request(by, "CONTROL", "{" + members + "}");
    const auto answers = received(by, "CONTROL_RESULT");
    return answers.empty() ? Frame{} : payload(answers.front());
  }
  /// The same for any request.
  Frame answer(ConnectionId by, const std::string& type, const std::string& question = "{}") {
    received(by);
    request(by, type, question);
    const auto answers = received(by);
    return answers.empty() ? Frame{} : payload(answers.back());
  }

  void leave(ConnectionId id) {
    broker_->on_disconnect(id, "gone", now_);
    settle();
  }
  void pass(Millis time) {
    const auto until = now_.steady + time;
    const auto wall = now_.wall + time.count();
    while (broker_->next_tick() && *broker_->next_tick() <= until) {
      const auto step = std::max(*broker_->next_tick(), now_.steady) - now_.steady;
      now_.steady += step;
      now_.wall += std::chrono::duration_cast<Millis>(step).count();
      broker_->on_tick(now_);
      settle();
    }
    now_ = {until, wall};
  }
  void take_all_output(ConnectionId id) {
    broker_->on_written(id, 0, now_);
    settle();
  }

  void hold_commits() { holding_ = true; }
  void release_commits() {
    holding_ = false;
    settle();
  }
  void fail_commits(bool failing) { failing_ = failing; }
  /// Requests that the store has not answered.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

  /// Every frame to this connection since the last call, or only those of one type.
  std::vector<Frame> received(ConnectionId id, std::string_view type = {}) {
    std::vector<Frame> frames;
    for (auto& frame : std::exchange(received_[id.value()], {})) {
      if (type.empty() || text(frame, "type") == type) frames.push_back(std::move(frame));
    }
    return frames;
  }
  std::vector<std::string> bodies(ConnectionId id) {
    std::vector<std::string> texts;
    for (const auto& frame : received(id, "DELIVER")) texts.push_back(body(frame));
    return texts;
  }
  [[nodiscard]] bool closed(ConnectionId id) const { return closed_.contains(id.value()); }
  [[nodiscard]] bool paused(ConnectionId id) const { return paused_.contains(id.value()); }

  /// Requests to hosts that have no answer yet; the test gives it.
  template <class Request>
  std::vector<Request> host_requests() {
    std::vector<Request> requests;
    for (auto& request : std::exchange(host_requests_, {})) {
      if (auto* fitting = std::get_if<Request>(&request))
        requests.push_back(std::move(*fitting));
      else
        host_requests_.push_back(std::move(request));
    }
    return requests;
  }
  void host_started(QueryId id, Result<std::int32_t> pid) {
    broker_->on_host_started(id, std::move(pid), now_);
    settle();
  }
  void host_done(QueryId id, Result<void> outcome) {
    broker_->on_host_done(id, std::move(outcome), now_);
    settle();
  }
  void host_answered(QueryId id, Result<void> outcome) {
    broker_->on_host_done(id, std::move(outcome), now_);
    settle();
  }
  void hosts(QueryId id, Result<std::vector<Worker>> workers) {
    broker_->on_hosts(id, std::move(workers), now_);
    settle();
  }

  /// Records of ended sessions that hosts left and the broker has not removed.
  std::vector<protocol::EndedSession>& ended_sessions() { return ended_; }

  Broker& broker() { return *broker_; }
  store::MemoryStore& store() { return store_; }
  void find_damage(const StoreDamage& damage) {
    broker_->on_damage(damage, now_);
    settle();
  }
  Timestamp& now() { return now_; }

  void settle() {
    for (Effects effects = broker_->take_effects(); !effects.empty() || commit_some();
         effects = broker_->take_effects()) {
      for (auto& effect : effects) std::visit([&](auto& what) { perform(what); }, effect);
    }
  }

  /// Of the commits since the last call.
  std::vector<records::CommitMode> commit_modes() { return std::exchange(commit_modes_, {}); }

 private:
  void perform(Send& what) { received_[what.to.value()].push_back(*parse_json_object(what.frame)); }
  void perform(Close& what) {
    closed_.emplace(what.connection.value(), what.reason);
    broker_->on_disconnect(what.connection, what.reason, now_);
  }
  void perform(PauseReading& what) { paused_.insert(what.connection.value()); }
  void perform(ResumeReading& what) { paused_.erase(what.connection.value()); }
  void perform(Persist& what) {
    commit_modes_.push_back(what.mode);
    waiting_.push_back([this, what = std::move(what)] {
      if (failing_) {
        broker_->on_commit_failed(what.ticket, what.ticket, "the disk is full", now_);
        return;
      }
      RELAY_ASSERT(store_.begin());
      for (const auto& change : what.changes) RELAY_ASSERT(store_.apply(change));
      RELAY_ASSERT(store_.commit());
      broker_->on_committed(what.ticket, store_.newest_event().value(), now_);
    });
  }
  void perform(LoadBacklog& what) {
    waiting_.push_back([this, what] { broker_->on_backlog(*store_.backlog(what.request), now_); });
  }
  void perform(ExpireDue& what) {
    waiting_.push_back([this, what] {
      RELAY_ASSERT(store_.begin());
      auto result = *store_.expire(what.request);
      result.newest_event = store_.newest_event().value();
      RELAY_ASSERT(store_.commit());
      broker_->on_expired(result, now_);
    });
  }
  void perform(QueryStore& what) {
    waiting_.push_back([this, what] { broker_->on_query_result(what.id, store::run_query(store_, what.query), now_); });
  }
  void perform(StartHost& what) { host_requests_.emplace_back(std::move(what)); }
  void perform(StopHost& what) { host_requests_.emplace_back(std::move(what)); }
  void perform(SendHostInput& what) { host_requests_.emplace_back(std::move(what)); }
  void perform(ListHosts& what) { host_requests_.emplace_back(what); }
  void perform(AnswerPrompt& what) { host_requests_.emplace_back(std::move(what)); }
  void perform(FindEndedSessions&) {
    const auto found = ended_;
    broker_->on_ended_sessions(found, now_);
  }
  void perform(ForgetEndedSession& what) {
    std::erase_if(ended_, [&](const auto& ended) { return ended.session == what.session.value(); });
  }
  void perform(NotifyUser& what) { host_requests_.emplace_back(std::move(what)); }
  void perform(RosterChanged&) {}
  void perform(WriteLog&) {}

  bool commit_some() {
    if (holding_ || waiting_.empty()) return false;
    auto job = std::move(waiting_.front());
    waiting_.pop_front();
    job();
    return true;
  }

  BrokerLimits limits_;
  store::MemoryStore store_;
  SeededRandom random_{1};
  Timestamp now_{SteadyTime{std::chrono::hours{1}}, 1'700'000'000'000};
  std::unique_ptr<Broker> broker_;
  std::uint64_t last_connection_ = 0;
  std::deque<std::move_only_function<void()>> waiting_;
  std::map<std::uint64_t, std::vector<Frame>> received_;
  std::map<std::uint64_t, std::string> closed_;
  std::set<std::uint64_t> paused_;
  std::vector<std::variant<StartHost, StopHost, SendHostInput, ListHosts, AnswerPrompt, NotifyUser>> host_requests_;
  std::vector<protocol::EndedSession> ended_;
  bool holding_ = false;
  bool failing_ = false;
  std::vector<records::CommitMode> commit_modes_;
};

/// The event in an AGENT_EVENT.
inline Frame event_in(const Frame& frame) { return *object_member(payload(frame), "event"); }

inline std::string token_of(BrokerFixture& world, ConnectionId id) {
  const auto frames = world.received(id, "WELCOME");
  return frames.empty() ? "" : text(payload(frames.front()), "resume_token");
}
inline std::string with_token(const std::string& token) {
  return format(R"("session":{{"resume_token":"{}"}})", token);
}
inline std::uint64_t seq_of(const Frame& frame) {
  return static_cast<std::uint64_t>(*integer_member(*object_member(frame, "delivery"), "seq"));
}

/// The history of a message with one delivery; by short id, delivery id, or the id its sender gave it.
inline records::TraceEntry ledger(BrokerFixture& world, const std::string& id) {
  const auto trace = world.store().trace(id);
  return trace && !trace->deliveries.empty() ? trace->deliveries.front() : records::TraceEntry{};
}
/// Its entries as words: `queued`, `accepted/written`, `delivered/seen`, …
inline std::vector<std::string> lines_of(const records::TraceEntry& entry) {
  std::vector<std::string> lines;
  for (const auto& line : entry.history) {
    const bool plain = line.proof == records::Proof::Stored;
    lines.push_back(format("{}{}{}", name_of(line.state), plain ? "" : "/", plain ? "" : name_of(line.proof)));
  }
  return lines;
}

inline std::vector<records::MessageRow> inbox_of(BrokerFixture& world, const std::string& name) {
  records::MessageQuery query;
  query.delivered_to = name;
  return *world.store().messages(query);
}

}  // namespace relay::broker::testing
