#include "broker/testing/broker_harness.h"

#include <algorithm>

namespace relay::broker::testing {

void BrokerHarness::restart() {
  executor_.clear();
  hosts_.clear();
  received_.clear();
  closed_.clear();
  ServerInfo info{"test", "memory", false, {}, {}};
  info.system_token = kSystemToken;
  info.started = daemon_started;
  broker_ = std::make_unique<Broker>(limits_, std::move(info), *store().load(), random_, now_);
}

void BrokerHarness::restart_after(Millis downtime) {
  now_.steady += downtime;
  now_.wall += downtime.count();
  restart();
  settle();
}

ConnectionId BrokerHarness::connect(protocol::PeerOrigin origin) {
  const ConnectionId id{++last_connection_};
  broker_->on_connect(id, {1000, 42, std::move(origin)}, now_);
  settle();
  return id;
}

void BrokerHarness::disconnect(ConnectionId id) {
  broker_->on_disconnect(id, "closed by the peer", now_);
  settle();
}

void BrokerHarness::send_frame(ConnectionId from, const std::string& frame) {
  broker_->on_frame(from, frame, now_);
  settle();
}

void BrokerHarness::drain_output(ConnectionId id) {
  broker_->on_written(id, 0, now_);
  settle();
}

std::vector<Frame> BrokerHarness::received(ConnectionId id, std::string_view type) {
  std::vector<Frame> frames;
  for (auto& frame : std::exchange(received_[id.value()], {})) {
    if (type.empty() || type_of(frame) == type) frames.push_back(std::move(frame));
  }
  return frames;
}

Strings BrokerHarness::bodies(ConnectionId id) {
  Strings bodies;
  for (const auto& frame : received(id, "DELIVER")) bodies.push_back(body(frame));
  return bodies;
}

void BrokerHarness::advance(Millis time) {
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

void BrokerHarness::release_commits() {
  executor_.release();
  settle();
}

void BrokerHarness::report_damage(const StoreDamage& damage) {
  broker_->on_damage(damage, now_);
  settle();
}

void BrokerHarness::host_started(QueryId id, Result<std::int32_t> pid) {
  broker_->on_host_started(id, std::move(pid), now_);
  settle();
}

void BrokerHarness::host_done(QueryId id, Result<void> outcome) {
  broker_->on_host_done(id, std::move(outcome), now_);
  settle();
}

void BrokerHarness::hosts_listed(QueryId id, Result<std::vector<Worker>> workers) {
  broker_->on_hosts(id, std::move(workers), now_);
  settle();
}

void BrokerHarness::settle() {
  for (Effects effects = broker_->take_effects(); !effects.empty() || executor_.run_next(*broker_, now_);
       effects = broker_->take_effects()) {
    for (auto& effect : effects) std::visit([&](auto& which) { execute(which); }, effect);
  }
}

void BrokerHarness::execute(SendFrame& effect) {
  received_[effect.to.value()].push_back(*parse_json_object(effect.frame));
}

void BrokerHarness::execute(Close& effect) {
  closed_.insert(effect.connection.value());
  broker_->on_disconnect(effect.connection, effect.reason, now_);
}

void BrokerHarness::execute(FindEndedSessions&) {
  const auto found = hosts_.ended_sessions();
  broker_->on_ended_sessions(found, now_);
}

}  // namespace relay::broker::testing
