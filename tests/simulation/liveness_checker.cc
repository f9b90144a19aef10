#include "tests/simulation/liveness_checker.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/format.h"
#include "base/json.h"
#include "records/short_id.h"

namespace relay::simulation {
namespace {

using protocol::DeliveryMode;
using records::Hold;

constexpr Millis kLate{2'000};  // a due timer has run within this

bool is_boundary(DeliveryMode mode) { return mode == DeliveryMode::NextMessage || mode == DeliveryMode::NextToolCall; }
bool stays_unsettled(DeliveryMode mode) { return is_boundary(mode) || mode == DeliveryMode::Manual; }

/// How many SESSION_STATEs of a session the daemon has received: each carries its number among the capabilities, which the
/// daemon keeps as long as the session, over a connection that is lost as well.
std::size_t received_reports(const broker::RosterEntry& entry) {
  const auto capabilities = parse_json_object(entry.capabilities);
  const auto number = capabilities ? string_member(*capabilities, "report").value_or("") : "";
  std::size_t count = 0;
  std::from_chars(number.data(), number.data() + number.size(), count);
  return count;
}

}  // namespace

std::uint64_t LivenessChecker::on_session_report(const std::string& client, SessionReport report) {
  auto& reports = sessions_[client].reports;
  report.connection = sessions_[client].connections;
  reports.push_back(std::move(report));
  return reports.size();
}

void LivenessChecker::daemon_started(Timestamp now) {
  set_by_ = {now};
  flight_.clear();
  for (auto& [name, session] : sessions_) session.current.clear();
}

void LivenessChecker::on_welcome(std::string_view session, broker::ConnectionId connection) {
  const auto agent = agent_of_.find(std::string{session});
  if (agent == agent_of_.end()) return;
  const auto client = sessions_.find(agent->second);
  if (client == sessions_.end()) return;
  client->second.current = session;
  client->second.connection = connection;
}

void LivenessChecker::sent(Key delivery, broker::ConnectionId connection, Seq seq) {
  flight_[delivery] = {connection, seq};
  for (auto& [name, session] : sessions_)
    if (session.connection == connection) session.unsettled.erase(delivery);
}

LivenessChecker::KnownState LivenessChecker::known_state(const Session& session, std::size_t count) {
  KnownState all;
  for (std::size_t i = 0; i < std::min(count, session.reports.size()); ++i) {
    const auto& report = session.reports[i];
    if (report.connection != session.reports[count - 1].connection) continue;
    all.state = report.state;
    if (report.modes) all.modes = report.modes;
    if (report.boundary) all.boundaries[*report.boundary] = report.newest;
  }
  return all;
}

/// A HELLO carries the newest state, without a number.
bool LivenessChecker::reported_since(const Session& session, std::size_t count, std::string_view state) {
  const auto first = session.reports.begin() + static_cast<std::ptrdiff_t>(std::min(count, session.reports.size()));
  return std::any_of(first, session.reports.end(), [&](const SessionReport& report) { return report.state == state; });
}

bool LivenessChecker::is_open(const Session& session, const KnownState& known,
                              const records::Delivery& delivery) const {
  const auto& capabilities = session.capabilities;
  const auto& modes = known.modes ? known.modes : capabilities.modes;
  const auto mode = delivery.lane.mode;
  if (mode == DeliveryMode::Manual) return capabilities.queue && modes && modes->has(mode);
  if (modes ? !modes->has(mode) : is_boundary(mode)) return false;
  if (capabilities.queue || mode == DeliveryMode::Immediate) return true;
  if (!is_boundary(mode))
    return known.state.empty() || known.state == "idle" || known.state == "waiting" || known.state == "blocked";
  const auto boundary = known.boundaries.find(mode);
  return boundary != known.boundaries.end() && delivery.rank <= boundary->second;
}

bool LivenessChecker::in_flight(const Session& session, const records::Delivery& delivery) const {
  const auto sent = flight_.find(delivery.key);
  return sent != flight_.end() && sent->second.connection == session.connection && sent->second.seq == delivery.seq;
}

std::optional<std::string> LivenessChecker::find_stuck(const std::vector<broker::RosterEntry>& roster,
                                                       Timestamp now) const {
  using Flow = std::tuple<std::string, protocol::Lane, std::string>;  // to, lane, from
  std::map<Flow, const Row*> first;                                   // of each flow, what is not in flight
  std::map<std::string, std::uint32_t> unsettled;
  std::map<std::pair<std::string, protocol::Lane>, std::uint32_t> in_lane;
  for (const auto& [key, row] : model_.rows()) {
    const auto& delivery = row.delivery;
    const auto session = sessions_.find(delivery.to.value());
    if (records::is_final(delivery.state) || session == sessions_.end()) continue;
    if (delivery.hold == Hold::Time) {
      auto due = row.due;
      for (const auto& set : set_by_)
        due = std::max(due, set.steady + Millis{std::max<WallMs>(0, delivery.available_at - set.wall)});
      if (delivery.available_at <= now.wall && due + kLate < now.steady)
        return format("{} (m{} to {}) is due to be retried and is not", records::delivery_id(key), row.number,
                      delivery.to.value());
    }
    if (delivery.hold != Hold::None) continue;
    if (in_flight(session->second, delivery)) {
      ++unsettled[delivery.to.value()];
      ++in_lane[{delivery.to.value(), delivery.lane}];
      continue;
    }
    // It was moved and will be sent again; its session has it meanwhile.
    if (const auto sent = flight_.find(key);
        sent != flight_.end() && sent->second.connection == session->second.connection)
      ++unsettled[delivery.to.value()];
    auto& head = first[{delivery.to.value(), delivery.lane, delivery.from.value()}];
    if (head == nullptr || delivery.rank < head->delivery.rank) head = &row;
  }
  for (const auto& entry : roster) {
    const auto found = sessions_.find(entry.agent.name.value());
    if (!entry.connected || found == sessions_.end()) continue;
    const auto& [name, session] = *found;
    // Another client has its name, or WELCOME is not yet received.
    if (session.current.empty() || session.current != session.own) continue;
    const auto paused = paused_.find(name);
    if ((paused != paused_.end() && paused->second) ||
        unsettled[name] + session.unsettled.size() >= session.capabilities.window)
      continue;
    const auto count = received_reports(entry);
    auto known = known_state(session, count);
    if (reported_since(session, count, entry.state)) known.state = entry.state;
    for (const auto& [flow, row] : first) {
      const auto& delivery = row->delivery;
      if (std::get<0>(flow) != name || delivery.expires_at <= now.wall || !is_open(session, known, delivery)) continue;
      const auto room = std::max(1u, session.capabilities.window / 8);
      if (stays_unsettled(delivery.lane.mode) && in_lane[{name, delivery.lane}] >= room) continue;
      return format("{} (m{} to {}, {}, lane {}, number {}) can be sent and is not; {} of {} are unsettled",
                    records::delivery_id(delivery.key), row->number, name, name_of(delivery.state),
                    protocol::lane_code(delivery.lane), delivery.seq.value(), unsettled[name],
                    session.capabilities.window);
    }
  }
  return std::nullopt;
}

}  // namespace relay::simulation
