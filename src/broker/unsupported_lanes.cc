#include "broker/unsupported_lanes.h"

#include <algorithm>

#include "broker/lanes.h"

namespace relay::broker {

void UnsupportedLanes::scan(AgentState& agent) {
  if (!agent.mailbox.connected() || !commits_.is_healthy()) return;  // scanned again when the store has recovered
  for (const auto mode : protocol::kDeliveryModes)
    if (agent.mailbox.has_pending(mode) && lane_state(agent, {mode}).block == LaneBlock::Unsupported &&
        !open_.contains({agent.name(), mode}))
      request_page({.agent = agent.name(), .mode = mode});
}

void UnsupportedLanes::request_page(Scan scan) {
  commits_.flush();
  records::HeldRequest request;
  request.to = scan.agent;
  request.mode = scan.mode;
  request.ready = true;
  request.after = scan.cursor;
  open_.emplace(scan.agent, scan.mode);
  queries_.run(std::move(request), [this, read = changes_during_read_.start_read(),
                                    scan = std::move(scan)](Result<records::HeldPage> page) mutable {
    open_.erase({scan.agent, scan.mode});
    on_page(std::move(scan), page);
    changes_during_read_.end_read(read);
  });
}

void UnsupportedLanes::defer(AgentState& agent, const records::Delivery& delivery) {
  history_.record(agent, heading_of(delivery.message, delivery.from, delivery.to),
                  {.key = delivery.key,
                   .state = records::DeliveryState::Deferred,
                   .reason = block_reason(agent, delivery.lane, LaneBlock::Unsupported)},
                  protocol::NackCode::Unsupported);
}

void UnsupportedLanes::on_page(Scan scan, const Result<records::HeldPage>& page) {
  AgentState* agent = agents_.find(scan.agent.value());
  if (agent == nullptr || !page) return;  // scanned again when it connects
  for (const auto& item : page->items) {
    const auto& delivery = item.delivery;
    scan.cursor = delivery.key;
    if (changes_during_read_.is_held(delivery.key, delivery.hold != records::Hold::None) ||
        agent->mailbox.is_with_session(delivery.key) ||
        changes_during_read_.has(DeliveryChange::Finished, delivery.key) ||
        changes_during_read_.has(DeliveryChange::Requeued, delivery.key) ||
        lane_state(*agent, delivery.lane).block != LaneBlock::Unsupported ||
        item.last_reason == block_reason(*agent, delivery.lane, LaneBlock::Unsupported))
      continue;
    defer(*agent, delivery);
  }
  if (page->more) request_page(std::move(scan));
}

}  // namespace relay::broker
