// Names that nobody uses any more: forgotten with their time, and sooner when there are too many.
#include <algorithm>

#include "base/format.h"
#include "broker/core.h"

namespace relay::broker {
namespace {

constexpr std::size_t kMaxForgotten = 256;  // names in one commit
constexpr WallMs kMinUnused = 60'000;       // at the limit: names of the last minute are kept
constexpr Millis kRoomRetry{1'000};         // a search that found none is not repeated sooner
constexpr std::size_t kRoomShare = 100;     // at the limit, room is made for this part of all names at once
constexpr WallMs kDayMs = 24LL * 3600 * 1000;
constexpr WallMs kIdsKept = 2 * kDayMs;  // a sender may repeat what it said, and its ids must be known then

}  // namespace

/// Forgotten in memory before the commit, so that whoever comes under the name meanwhile is new and saved behind it. A
/// commit that fails leaves a row that the next start reads and the next round removes.
void Core::forget_unused(WallMs older_than) { forget_unused(older_than, unused_names(older_than, agents_.size())); }

/// One batch per commit. A name that is in use again by the time of its batch is kept.
void Core::forget_unused(WallMs older_than, std::vector<std::string> names) {
  const auto needed = needed_names();
  std::vector<std::string> batch;
  while (!names.empty() && batch.size() < kMaxForgotten) {
    const auto agent = agents_.find(names.back());
    if (agent != agents_.end() && is_unused(agent->second, older_than) && !needed.contains(agent->second.name()))
      batch.push_back(std::move(names.back()));
    names.pop_back();
  }
  forget_names(batch);
  if (names.empty()) return;
  when_committed([this, older_than, names = std::move(names)](CommitResult saving) mutable {
    if (saving == CommitResult::Done) forget_unused(older_than, std::move(names));
  });
}

bool Core::has_room_for_name(std::size_t others) {
  if (has_room(others)) return true;
  if (now_.steady < next_room_search_) return false;
  const auto names = unused_names(now_.wall - kMinUnused, std::max<std::size_t>(1, agents_.size() / kRoomShare));
  forget_names(names);
  if (names.empty()) next_room_search_ = now_.steady + kRoomRetry;
  return has_room(others);
}

bool Core::has_room(std::size_t others) const {
  return agents_.size() + others < limits_.max_known_agents && description_bytes_ < limits_.max_description_bytes;
}

void Core::count_description(AgentState& agent) {
  const auto& record = agent.record;
  description_bytes_ -= std::exchange(agent.described_bytes, 0);
  for (const auto* text : {&record.cli, &record.program, &record.model, &record.task, &record.working_directory,
                           &record.team, &record.display_name, &record.avatar_url})
    agent.described_bytes += text->size();
  description_bytes_ += agent.described_bytes;
}

std::set<AgentName> Core::needed_names() const {
  std::set<AgentName> needed;
  for (const auto& [channel, members] : channels_)
    if (channel != protocol::kGeneralChannel) needed.insert(members.begin(), members.end());  // everyone is in that one
  for (const auto& [id, proposal] : proposals_) {
    needed.insert(proposal.proposer);
    needed.insert(proposal.participants.begin(), proposal.participants.end());
  }
  return needed;
}

/// The longest unused first.
std::vector<std::string> Core::unused_names(WallMs older_than, std::size_t most) const {
  const auto needed = needed_names();
  std::vector<std::pair<WallMs, std::string_view>> found;
  for (const auto& [name, agent] : agents_)
    if (is_unused(agent, older_than) && !needed.contains(agent.name()))
      found.emplace_back(agent.record.last_seen, name);
  const auto count = std::min(most, found.size());
  std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.emplace_back(found[i].second);
  return names;
}

bool Core::is_unused(const AgentState& agent, WallMs older_than) const {
  const bool speaks = agent.connected() || (agent.session && agent.session->ended == 0) || is_claimed(agent) ||
                      is_starting(agent.name().value());
  const bool busy = agent.removing || agent.releasing || agent.inquiring || agent.mailbox.pending > 0 ||
                    !agent.requests.all().empty();
  const bool set_by_user = agent.record.paused || !agent.record.policy.empty();
  const auto last_used = std::max(agent.record.last_seen, agent.session ? agent.session->ended : 0);
  if (speaks || busy || set_by_user || last_used >= older_than) return false;
  // Without its ids and marks what it repeats would be taken a second time.
  if (!agent.recent.empty() && last_used >= now_.wall - kIdsKept) return false;
  return !agent.outboxes.used_since(now_.wall - records::kOutboxMarkRetentionMs);
}

void Core::forget_names(const std::vector<std::string>& names) {
  if (names.empty()) return;
  for (const auto& name : names) {
    change(records::RemoveAgent{AgentName{name}, false, now_.wall});
    leave_channel(std::string{protocol::kGeneralChannel}, AgentName{name});
    loops_.forget(name);
    erase_agent(name);
  }
  note(WriteLog::Level::Info, format("unused names forgotten count={} known={}", names.size(), agents_.size()));
  emit(RosterChanged{});
}

/// A name without a session is seen when it speaks; saved once a day, not with every message.
void Core::see_guest(AgentState& guest) {
  const bool another_day = guest.record.last_seen / kDayMs != now_.wall / kDayMs;
  guest.record.last_seen = now_.wall;
  if (another_day) save_eventually(records::PutAgent{guest.record});
}

}  // namespace relay::broker
