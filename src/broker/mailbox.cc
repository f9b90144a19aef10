#include "broker/mailbox.h"

#include <algorithm>
#include <array>

namespace relay::broker {
namespace {

using protocol::DeliveryMode;
using protocol::Lane;
using protocol::Priority;

/// Urgent lanes first, then by how soon the mode delivers.
constexpr std::array<DeliveryMode, 5> kModesInOrder = {DeliveryMode::Immediate, DeliveryMode::NextToolCall,
                                                       DeliveryMode::NextMessage, DeliveryMode::OnIdle,
                                                       DeliveryMode::Manual};

/// A slow lane gets the window divided by this.
constexpr std::uint32_t kSlowWindowDivisor = 8;

constexpr std::size_t kIdleFlows = 64;  // kept, so that a conversation does not recreate its flow for each message

/// Whether deliveries of the mode stay with the session for long.
bool is_slow(DeliveryMode mode) {
  return mode == DeliveryMode::NextToolCall || mode == DeliveryMode::NextMessage || mode == DeliveryMode::Manual;
}

}  // namespace

std::uint8_t Mailbox::precedence_of(Lane lane) {
  const auto place = std::ranges::find(kModesInOrder, lane.mode) - kModesInOrder.begin();
  const std::size_t first = lane.priority == Priority::Urgent ? 0 : kModesInOrder.size();
  return static_cast<std::uint8_t>(first + static_cast<std::size_t>(place));
}

Lane Mailbox::lane_at(std::uint8_t precedence) {
  const bool urgent = precedence < kModesInOrder.size();
  return {kModesInOrder[precedence % kModesInOrder.size()], urgent ? Priority::Urgent : Priority::Normal};
}

void Mailbox::restore(const records::WorkspaceState::Backlog& backlog) {
  pending_ += backlog.pending;
  held_ += backlog.held;
  if (backlog.pending > backlog.held) expect(backlog.lane, backlog.from);
}

void Mailbox::connect(std::uint32_t window, std::set<Key> unsettled) {
  disconnect();
  window_ = window;
  for (const Key key : unsettled) unsettled_.emplace(key, std::nullopt);
}

void Mailbox::locate_unsettled(Key key, Lane lane, const AgentName& from) {
  if (const auto place = unsettled_.find(key); place != unsettled_.end())
    place->second = FlowKey{precedence_of(lane), from};
}

void Mailbox::disconnect() {
  window_ = 0;
  for (const auto& [key, item] : flight_)
    flow(item.outbound.delivery.lane, item.outbound.delivery.from).more_in_store = true;
  for (auto& [key, flow] : flows_) {
    flow.more_in_store = flow.more_in_store || flow.loading || !flow.ready.empty();
    flow.ready.clear();
    flow.cursor = Key{};
    flow.loading = false;
  }
  flight_.clear();
  unsettled_.clear();
  behind_.clear();
  in_flight_.fill(0);
  ready_count_ = 0;
  until_written_ = 0;
  load_is_stale_ = loading_;
  std::erase_if(flows_, [](const auto& entry) { return !entry.second.more_in_store; });
}

bool Mailbox::has_pending(DeliveryMode mode) const {
  return std::ranges::any_of(flows_, [&](const auto& entry) {
    const auto& [key, flow] = entry;
    return lane_at(key.precedence).mode == mode && (flow.more_in_store || flow.loading || !flow.ready.empty());
  });
}

void Mailbox::expect(Lane lane, const AgentName& from) { flow(lane, from).more_in_store = true; }

void Mailbox::moved(Key key, Key rank) {
  if (loading_) moved_[key] = rank;
}

void Mailbox::committed(OutboundDelivery outbound, std::size_t max_ready) {
  Flow& its = flow(outbound.delivery.lane, outbound.delivery.from);
  if (!connected() || its.more_in_store || its.loading || ready_count_ >= max_ready) {
    its.more_in_store = true;
    return;
  }
  its.cursor = outbound.delivery.rank;
  its.ready.emplace_back(std::move(outbound));
  ++ready_count_;
}

bool Mailbox::lane_has_room(Lane lane) const {
  if (flight_.size() >= window_) return false;
  if (!is_slow(lane.mode)) return true;
  return in_flight_[precedence_of(lane)] < std::max(1u, window_ / kSlowWindowDivisor);
}

/// Deliveries of a flow are sent in order. If the session has unsettled ones of the flow while another is next, they
/// were requeued after it and must not block it.
bool Mailbox::has_room_for(const FlowKey& flow, Key next) const {
  if (flight_.size() + unsettled_.size() < window_ || unsettled_.contains(next)) return true;
  const auto behind = std::ranges::count_if(unsettled_, [&](const auto& entry) { return entry.second == flow; });
  return flight_.size() + unsettled_.size() - static_cast<std::size_t>(behind) < window_;
}

InFlight* Mailbox::take_ready(const LaneLimit& open) {
  if (ready_count_ == 0 || flight_.size() >= window_) return nullptr;
  for (auto group = flows_.begin(); group != flows_.end();) {
    const auto precedence = group->first.precedence;
    const bool last = flows_.rbegin()->first.precedence == precedence;
    const auto end = last ? flows_.end() : flows_.lower_bound({static_cast<std::uint8_t>(precedence + 1), AgentName{}});
    const Lane lane = lane_at(precedence);
    const Key up_to = lane_has_room(lane) ? open(lane) : Key{};
    const auto can_go = [&](const auto& entry) {
      if (entry.second.ready.empty()) return false;
      const auto& next = entry.second.ready.front().delivery;
      return next.rank <= up_to && has_room_for(entry.first, next.key);
    };
    if (up_to != Key{}) {
      // The sender after the one served last; the first one when there is none.
      const auto served = served_.find(precedence);
      const auto next = served == served_.end() ? group : flows_.upper_bound({precedence, served->second});
      auto chosen = std::find_if(next, end, can_go);
      if (chosen == end) chosen = std::find_if(group, next, can_go);
      if (chosen != end && can_go(*chosen)) {
        if (served == served_.end())
          served_.emplace(precedence, chosen->first.from);
        else if (served->second != chosen->first.from)
          served->second = chosen->first.from;
        auto& ready = chosen->second.ready;
        const Key key = ready.front().delivery.key;
        InFlight& sent = flight_[key];
        sent.outbound = ready.take_front();
        --ready_count_;
        ++in_flight_[precedence];
        behind_.erase(key);
        if (!unsettled_.empty() && unsettled_.erase(key) == 0)
          std::erase_if(unsettled_, [&](const auto& entry) {
            return entry.second == chosen->first && behind_.insert(entry.first).second;
          });
        return &sent;
      }
    }
    group = end;
  }
  return nullptr;
}

std::optional<Mailbox::PageRequest> Mailbox::start_load(const LaneLimit& open) {
  if (loading_ || !connected()) return std::nullopt;
  if (flows_.size() > kIdleFlows) forget_idle_flows();
  for (auto& [key, flow] : flows_) {
    if (!flow.more_in_store || !flow.ready.empty()) continue;
    const Lane lane = lane_at(key.precedence);
    if (!lane_has_room(lane) || open(lane) == Key{}) continue;
    loading_ = flow.loading = true;
    load_is_stale_ = false;
    flow.more_in_store = false;  // a later commit sets it again
    return PageRequest{lane, key.from, flow.cursor};
  }
  return std::nullopt;
}

void Mailbox::page_arrived(records::BacklogPage page) {
  loading_ = false;
  const auto moved = std::exchange(moved_, {});
  if (std::exchange(load_is_stale_, false)) return;
  Flow& its = flow(page.lane, page.from);
  its.loading = false;
  its.more_in_store = its.more_in_store || page.more;
  pending_ = std::max<std::uint64_t>(pending_, flight_.size() + ready_count_ + page.items.size());
  for (auto& item : page.items) {
    its.cursor = item.delivery.rank;
    if (flight_.contains(item.delivery.key)) continue;
    if (const auto place = moved.find(item.delivery.key); place != moved.end() && item.delivery.rank < place->second)
      continue;
    its.ready.emplace_back(std::move(item.delivery), std::make_shared<const records::Message>(std::move(item.message)));
    ++ready_count_;
  }
}

void Mailbox::page_failed(Lane lane, const AgentName& from) {
  loading_ = false;
  load_is_stale_ = false;
  moved_.clear();
  Flow& its = flow(lane, from);
  its.loading = false;
  its.more_in_store = true;
}

std::optional<InFlight> Mailbox::finish(Key key) {
  unsettled_.erase(key);
  behind_.erase(key);
  const auto place = flight_.find(key);
  if (place == flight_.end()) return std::nullopt;
  std::optional<InFlight> done{std::move(place->second)};
  flight_.erase(place);
  --in_flight_[precedence_of(done->outbound.delivery.lane)];
  if (done->settled_when == SettledWhen::Written) --until_written_;
  return done;
}

std::optional<OutboundDelivery> Mailbox::move_unsettled(Key key, Lane lane) {
  auto moved = finish(key);
  if (!moved) return std::nullopt;
  unsettled_.emplace(key, FlowKey{precedence_of(lane), moved->outbound.delivery.from});
  return std::move(moved->outbound);
}

std::vector<InFlight> Mailbox::finish_written() {
  std::vector<InFlight> done;
  if (until_written_ == 0) return done;
  std::vector<Key> keys;
  for (const auto& [key, item] : flight_) {
    if (item.settled_when == SettledWhen::Written) keys.push_back(key);
  }
  for (const Key key : keys) done.push_back(*finish(key));
  return done;
}

bool Mailbox::drop(Key key) {
  if (finish(key)) return true;
  for (auto& [flow_key, flow] : flows_) {
    const auto erased =
        flow.ready.erase_if([&](const OutboundDelivery& outbound) { return outbound.delivery.key == key; });
    ready_count_ -= erased;
    if (erased > 0) return true;
  }
  return false;
}

void Mailbox::forget_idle_flows() {
  std::erase_if(flows_, [](const auto& entry) {
    const Flow& flow = entry.second;
    return !flow.more_in_store && !flow.loading && flow.ready.empty();
  });
}

}  // namespace relay::broker
