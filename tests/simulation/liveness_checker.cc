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

constexpr Millis kLate{2'000};  // a timer that is due has run within this

bool is_boundary(DeliveryMode mode) { return mode == DeliveryMode::NextMessage || mode == DeliveryMode::NextToolCall; }
bool stays_unsettled(DeliveryMode mode) { return is_boundary(mode) || mode == DeliveryMode::Manual; }

/// How many SESSION_STATEs of a session the daemon has heard: each carries its number among the capabilities, which the
/// daemon keeps as long as the session, over a connection that is lost as well.
std::size_t heard_up_to(const broker::RosterEntry& entry) {
  const auto capabilities = parse_json_object(entry.capabilities);
  const auto number = capabilities ? string_member(*capabilities, "told").value_or("") : "";
  std::size_t count = 0;
  std::from_chars(number.data(), number.data() + number.size(), count);
  return count;
}

}  // namespace

std::uint64_t LivenessChecker::tells(const std::string& program, Told told) {
  auto& said = sessions_[program].told;
  told.connection = sessions_[program].connections;
  said.push_back(std::move(told));
  return said.size();
}

void LivenessChecker::daemon_started(Timestamp now) {
  set_by_ = {now};
  flight_.clear();
  for (auto& [name, session] : sessions_) session.current.clear();
}

void LivenessChecker::welcomed(std::string_view session, broker::ConnectionId connection) {
  const auto agent = agent_of_.find(std::string{session});
  if (agent == agent_of_.end()) return;
  const auto program = sessions_.find(agent->second);
  if (program == sessions_.end()) return;
  program->second.current = session;
  program->second.connection = connection;
}

void LivenessChecker::sent(Key delivery, broker::ConnectionId connection, Seq seq) {
  flight_[delivery] = {connection, seq};
  for (auto& [name, session] : sessions_)
    if (session.connection == connection) session.kept.erase(delivery);
}

LivenessChecker::Heard LivenessChecker::heard(const Session& session, std::size_t count) {
  Heard all;
  for (std::size_t i = 0; i < std::min(count, session.told.size()); ++i) {
    const auto& told = session.told[i];
    if (told.connection != session.told[count - 1].connection) continue;
    all.state = told.state;
    if (told.modes) all.modes = told.modes;
    if (told.boundary) all.boundaries[*told.boundary] = told.newest;
  }
  return all;
}

/// A greeting tells the newest state, without a number.
bool LivenessChecker::said_since(const Session& session, std::size_t count, std::string_view state) {
  const auto first = session.told.begin() + static_cast<std::ptrdiff_t>(std::min(count, session.told.size()));
  return std::any_of(first, session.told.end(), [&](const Told& told) { return told.state == state; });
}

bool LivenessChecker::is_open(const Session& session, const Heard& heard, const records::Delivery& delivery) const {
  const auto& able = session.able;
  const auto& modes = heard.modes ? heard.modes : able.modes;
  const auto mode = delivery.lane.mode;
  if (mode == DeliveryMode::Manual) return able.queue && modes && modes->has(mode);
  if (modes ? !modes->has(mode) : is_boundary(mode)) return false;
  if (able.queue || mode == DeliveryMode::Immediate) return true;
  if (!is_boundary(mode))
    return heard.state.empty() || heard.state == "idle" || heard.state == "waiting" || heard.state == "blocked";
  const auto told = heard.boundaries.find(mode);
  return told != heard.boundaries.end() && delivery.rank <= told->second;
}

bool LivenessChecker::in_flight(const Session& session, const records::Delivery& delivery) const {
  const auto sent = flight_.find(delivery.key);
  return sent != flight_.end() && sent->second.connection == session.connection && sent->second.seq == delivery.seq;
}

std::optional<std::string> LivenessChecker::look(const std::vector<broker::RosterEntry>& roster, Timestamp now) const {
  using Flow = std::tuple<std::string, protocol::Lane, std::string>;  // to, lane, from
  std::map<Flow, const Row*> first;                                   // of each flow, what is not in anybody's hands
  std::map<std::string, std::uint32_t> in_hand;
  std::map<std::pair<std::string, protocol::Lane>, std::uint32_t> in_lane;
  for (const auto& [key, row] : book_.rows()) {
    const auto& delivery = row.delivery;
    const auto session = sessions_.find(delivery.to.value());
    if (records::is_final(delivery.state) || session == sessions_.end()) continue;
    if (delivery.hold == Hold::Time) {
      auto due = row.due;
      for (const auto& moment : set_by_)
        due = std::max(due, moment.steady + Millis{std::max<WallMs>(0, delivery.available_at - moment.wall)});
      if (delivery.available_at <= now.wall && due + kLate < now.steady)
        return format("{} (m{} to {}) was to be tried again and is not", records::delivery_id(key), row.number,
                      delivery.to.value());
    }
    if (delivery.hold != Hold::None) continue;
    if (in_flight(session->second, delivery)) {
      ++in_hand[delivery.to.value()];
      ++in_lane[{delivery.to.value(), delivery.lane}];
      continue;
    }
    // It was moved and is to be sent again; its session has it all the while.
    if (const auto sent = flight_.find(key);
        sent != flight_.end() && sent->second.connection == session->second.connection)
      ++in_hand[delivery.to.value()];
    auto& head = first[{delivery.to.value(), delivery.lane, delivery.from.value()}];
    if (head == nullptr || delivery.rank < head->delivery.rank) head = &row;
  }
  for (const auto& entry : roster) {
    const auto found = sessions_.find(entry.agent.name.value());
    if (!entry.connected || found == sessions_.end()) continue;
    const auto& [name, session] = *found;
    // Somebody else has its name, or it is being welcomed.
    if (session.current.empty() || session.current != session.own) continue;
    const auto paused = paused_.find(name);
    if ((paused != paused_.end() && paused->second) || in_hand[name] + session.kept.size() >= session.able.window)
      continue;
    const auto count = heard_up_to(entry);
    auto known = heard(session, count);
    if (said_since(session, count, entry.state)) known.state = entry.state;
    for (const auto& [flow, row] : first) {
      const auto& delivery = row->delivery;
      if (std::get<0>(flow) != name || delivery.expires_at <= now.wall || !is_open(session, known, delivery)) continue;
      const auto room = std::max(1u, session.able.window / 8);
      if (stays_unsettled(delivery.lane.mode) && in_lane[{name, delivery.lane}] >= room) continue;
      return format("{} (m{} to {}, {}, lane {}, number {}) sits eligible and untouched; {} of {} are in hand",
                    records::delivery_id(delivery.key), row->number, name, name_of(delivery.state),
                    protocol::lane_code(delivery.lane), delivery.seq.value(), in_hand[name], session.able.window);
    }
  }
  return std::nullopt;
}

}  // namespace relay::simulation
