/// One agent's deliveries: in flight, ready, and a mark for each flow that has more in the store.
///
/// The store holds all of them, the mailbox a window. A flow is the deliveries of one lane and sender, in their order.
/// Lanes are served by precedence (urgent ones first); in a lane the senders take turns (fair queue), so that a sender
/// of many messages does not delay the others.
///
///     flow (on-idle, Alice)   store: 1 2 3 4 5 6 7 …   cursor = 5: everything up to rank 5 is in this window
///                             flight: 1 2 3   ready: 4 5   more in the store: 6 … will be loaded after the cursor
///
/// Deliveries enter a flow in the order of their ranks, either straight from a commit or in pages loaded from the
/// store. Without room, a commit only sets the mark. A page requested later contains the delivery, because the store
/// answers a page after all commits that were requested before it.
///
/// Invariants: nothing is both in flight and ready. At most `window` deliveries are in flight; slow lanes (next-message,
///   next-tool-call, manual) get one eighth of it. Unsettled deliveries of an earlier connection count. About one page is
///   ready over all flows. One page is requested at a time. A reconnect drops the window and starts again from the store,
///   so old ids and numbers return.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "broker/vector_queue.h"
#include "records/queries.h"

namespace relay::broker {

struct OutboundDelivery {
  records::Delivery delivery;
  std::shared_ptr<const records::Message> message;
};

/// When a delivery in flight is settled.
enum class SettledWhen : std::uint8_t { Acknowledged, Written };

struct InFlight {
  OutboundDelivery outbound;
  SettledWhen settled_when = SettledWhen::Acknowledged;
  SteadyTime resend_at{};
  Millis resend_after{0};

  /// The session has it.
  void stop_resending() { resend_at = SteadyTime::max(); }
};

/// The rank up to which a lane is open; Key{} when it is closed.
using LaneLimit = std::function<Key(protocol::Lane)>;
inline const Key kNoLimit{std::numeric_limits<std::int64_t>::max()};

class Mailbox {
 public:
  /// The deliveries of one flow in the store.
  void restore(const records::WorkspaceState::Backlog& backlog);

  /// Deliveries that are not final, including those being committed and those held.
  [[nodiscard]] std::uint64_t pending() const { return pending_; }
  [[nodiscard]] std::uint64_t held() const { return held_; }
  void add_pending() { ++pending_; }
  void settle_one() { pending_ -= pending_ > 0 ? 1 : 0; }
  void add_held() { ++held_; }
  void release_one() { held_ -= held_ > 0 ? 1 : 0; }

  /// `unsettled`: deliveries that the session still has from an earlier connection; each counts until it is resent.
  void connect(std::uint32_t window, std::set<Key> unsettled = {});
  /// The flow of an unsettled delivery.
  void locate_unsettled(Key key, protocol::Lane lane, const AgentName& from);
  void disconnect();
  [[nodiscard]] bool connected() const { return window_ > 0; }

  /// True if a delivery of this mode is pending that the session does not have.
  [[nodiscard]] bool has_pending(protocol::DeliveryMode mode) const;
  /// The store has a delivery of this flow.
  void expect(protocol::Lane lane, const AgentName& from);
  /// A delivery that is only in the store has another rank now. A page that is being loaded may still have the old one.
  void moved(Key key, Key rank);
  /// A delivery was committed; it becomes ready if it is the next one of its flow and there is room.
  void committed(OutboundDelivery outbound, std::size_t max_ready);

  /// The next delivery to send, if window and lanes allow; it is in flight from now on. `settled_when` is called for it.
  template <class SettlementRule>
  InFlight* send_next(const LaneLimit& open, SettlementRule&& settled_when) {
    InFlight* sent = take_ready(open);
    if (sent == nullptr) return nullptr;
    sent->settled_when = settled_when(sent->outbound);
    if (sent->settled_when == SettledWhen::Written) ++until_written_;
    return sent;
  }

  /// The page to request, if one is needed; it is being loaded from now on.
  struct PageRequest {
    protocol::Lane lane;
    AgentName from;
    Key after;
  };
  std::optional<PageRequest> start_load(const LaneLimit& open);
  void page_arrived(records::BacklogPage page);
  void page_failed(protocol::Lane lane, const AgentName& from);

  /// Its session does not have it any more; none when it was not in flight.
  std::optional<InFlight> finish(Key key);
  /// Its session has it, and it belongs to another flow from now on; none when it was not in flight.
  std::optional<OutboundDelivery> move_unsettled(Key key, protocol::Lane lane);
  /// Removes and returns the deliveries that are settled once they are written.
  std::vector<InFlight> finish_written();
  /// True if its session has it, sent on this connection or on an earlier one.
  [[nodiscard]] bool is_with_session(Key key) const {
    return flight_.contains(key) || unsettled_.contains(key) || behind_.contains(key);
  }
  /// It expired, was cancelled or moved; false when it was not in the window.
  bool drop(Key key);

  [[nodiscard]] bool is_in_flight(Key key) const { return flight_.contains(key); }
  [[nodiscard]] std::size_t in_flight() const { return flight_.size(); }
  std::map<Key, InFlight>& flight() { return flight_; }
  [[nodiscard]] std::size_t ready_count() const { return ready_count_; }

 private:
  struct Flow {
    VectorQueue<OutboundDelivery, 4> ready;
    Key cursor;
    bool more_in_store = false;
    bool loading = false;
  };
  /// Lanes are served in the order of `precedence`.
  struct FlowKey {
    std::uint8_t precedence = 0;
    AgentName from;
    friend auto operator<=>(const FlowKey&, const FlowKey&) = default;
  };
  using Flows = std::map<FlowKey, Flow>;

  static std::uint8_t precedence_of(protocol::Lane lane);
  static protocol::Lane lane_at(std::uint8_t precedence);
  Flow& flow(protocol::Lane lane, const AgentName& from) { return flows_[{precedence_of(lane), from}]; }
  [[nodiscard]] bool lane_has_room(protocol::Lane lane) const;
  [[nodiscard]] bool has_room_for(const FlowKey& flow, Key next) const;
  InFlight* take_ready(const LaneLimit& open);
  void forget_idle_flows();

  std::uint64_t pending_ = 0;
  std::uint64_t held_ = 0;
  std::uint32_t window_ = 0;  // 0: not connected
  std::map<Key, InFlight> flight_;
  Flows flows_;
  std::map<std::uint8_t, AgentName> served_;  // by lane: the sender of the last turn
  std::array<std::uint32_t, 2 * std::size(protocol::kDeliveryModes)> in_flight_{};  // by lane
  std::map<Key, std::optional<FlowKey>>
      unsettled_;         // of an earlier connection, not resent yet; with the flow, if located
  std::set<Key> behind_;  // unsettled too, but requeued after deliveries that were sent since; they do not count
  std::size_t ready_count_ = 0;
  std::size_t until_written_ = 0;  // deliveries in flight that are settled when written
  bool loading_ = false;
  bool load_is_stale_ = false;  // requested before a reconnect
  std::map<Key, Key> moved_;    // while a page is being loaded: delivery → its rank
};

}  // namespace relay::broker
