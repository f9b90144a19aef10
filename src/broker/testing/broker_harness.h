/// A broker with a memory store, fake hosts, a manual clock and connections that keep the frames they receive.
///
/// Every input is followed by settle(): effects and store requests are executed until none is left. Commits are immediate
/// unless held.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "broker/broker.h"
#include "broker/testing/fake_hosts.h"
#include "broker/testing/frames.h"
#include "broker/testing/store_executor.h"

namespace relay::broker::testing {

inline constexpr std::string_view kSystemToken = "the token of this fixture";

class BrokerHarness {
 public:
  explicit BrokerHarness(BrokerLimits limits) : limits_{limits} { restart(); }

  /// When the daemon around the broker started, from the next restart on; none: with the broker.
  std::optional<SteadyTime> daemon_started;

  /// Creates a broker from the contents of the store. All connections are lost.
  void restart();
  /// Starts the next broker after a time without a daemon.
  void restart_after(Millis downtime);

  // Connections.
  /// From the user's own shell, unless another origin is given.
  ConnectionId connect(protocol::PeerOrigin origin = protocol::user_origin());
  void disconnect(ConnectionId id);
  /// Sends the JSON of one frame.
  void send_frame(ConnectionId from, const std::string& frame);
  /// The client has read all bytes that were queued for it.
  void drain_output(ConnectionId id);
  [[nodiscard]] bool closed(ConnectionId id) const { return closed_.contains(id.value()); }
  [[nodiscard]] bool paused(ConnectionId id) const { return paused_.contains(id.value()); }

  /// Takes all frames that a connection has received; returns those of one type, or all.
  std::vector<Frame> received(ConnectionId id, std::string_view type = {});
  /// Takes all frames; returns the first of this type.
  Frame first_frame(ConnectionId id, std::string_view type) { return received(id, type).at(0); }
  /// Takes all frames; returns the bodies of the deliveries.
  Strings bodies(ConnectionId id);
  void drop_received(ConnectionId id) { received_.erase(id.value()); }

  // The clock.
  Timestamp& now() { return now_; }
  /// Moves the clock and fires the broker's timers on the way.
  void advance(Millis time);

  // The store.
  store::MemoryStore& store() { return executor_.store(); }
  void hold_commits() { executor_.hold(); }
  void release_commits();
  void fail_commits() { executor_.fail_commits(); }
  void accept_commits() { executor_.accept_commits(); }
  /// Of the commits since the last call.
  std::vector<records::CommitMode> commit_modes() { return executor_.take_commit_modes(); }
  [[nodiscard]] std::size_t pending_store_requests() const { return executor_.pending(); }
  void report_damage(const StoreDamage& damage);

  // Hosts.
  /// Requests to hosts since the last call; the test reports their results.
  template <class Request>
  std::vector<Request> host_requests() {
    return hosts_.take<Request>();
  }
  void host_started(QueryId id, Result<std::int32_t> pid);
  void host_done(QueryId id, Result<void> outcome);
  void hosts_listed(QueryId id, Result<std::vector<Worker>> workers);
  std::vector<protocol::EndedSession>& ended_sessions() { return hosts_.ended_sessions(); }

  Broker& broker() { return *broker_; }
  /// Executes effects and store requests until none is left.
  void settle();

 private:
  void execute(SendFrame& effect);
  void execute(Close& effect);
  void execute(PauseReading& effect) { paused_.insert(effect.connection.value()); }
  void execute(ResumeReading& effect) { paused_.erase(effect.connection.value()); }
  void execute(Persist& effect) { executor_.add(std::move(effect)); }
  void execute(LoadBacklog& effect) { executor_.add(std::move(effect)); }
  void execute(ExpireDue& effect) { executor_.add(std::move(effect)); }
  void execute(QueryStore& effect) { executor_.add(std::move(effect)); }
  void execute(StartHost& effect) { hosts_.add(std::move(effect)); }
  void execute(StopHost& effect) { hosts_.add(std::move(effect)); }
  void execute(SendHostInput& effect) { hosts_.add(std::move(effect)); }
  void execute(ListHosts& effect) { hosts_.add(effect); }
  void execute(AnswerPrompt& effect) { hosts_.add(std::move(effect)); }
  void execute(NotifyUser& effect) { hosts_.add(std::move(effect)); }
  void execute(FindEndedSessions& effect);
  void execute(ForgetEndedSession& effect) { hosts_.remove_ended_session(effect.session); }
  void execute(RosterChanged&) {}
  void execute(WriteLog&) {}

  BrokerLimits limits_;
  StoreExecutor executor_;
  FakeHosts hosts_;
  SeededRandom random_{1};
  Timestamp now_{SteadyTime{std::chrono::hours{1}}, 1'700'000'000'000};
  std::unique_ptr<Broker> broker_;
  std::uint64_t last_connection_ = 0;
  std::map<std::uint64_t, std::vector<Frame>> received_;
  std::set<std::uint64_t> closed_;
  std::set<std::uint64_t> paused_;
};

}  // namespace relay::broker::testing
