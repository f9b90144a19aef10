#include "broker/held_deliveries.h"

#include <algorithm>

#include "base/format.h"
#include "broker/lanes.h"

namespace relay::broker {

using records::DeliveryState;
using records::Proof;

namespace {

constexpr Millis kDueRetryDelay{1'000};

}  // namespace

void HeldDeliveries::on_due() {
  if (loading_ || due_timer_.next() == 0) return;
  if (due_timer_.next() > context_.wall()) return due_timer_.arm(due_timer_.take());
  if (!commits_.is_healthy()) return;  // a requeue could not be saved; see on_store_recovered
  due_timer_.take();
  commits_.flush();
  loading_ = true;
  queries_.run(records::HeldRequest{.due_by = context_.wall(), .to = {}, .mode = {}, .after = {}},
               [this, read = changes_during_read_.start_read()](Result<records::HeldPage> page) {
                 loading_ = false;
                 on_due_page(page);
                 changes_during_read_.end_read(read);
               });
}

void HeldDeliveries::on_due_page(const Result<records::HeldPage>& page) {
  if (!page) {
    context_.log(WriteLog::Level::Warn, format("cannot read held deliveries error=\"{}\"", page.error().message()));
    due_timer_.take();  // its timer may have run meanwhile
    return due_timer_.arm(context_.wall() + kDueRetryDelay.count());
  }
  for (const auto& item : page->items) requeue(item.delivery, item.topic, item.delivery.lane, "it is due");
  const WallMs next = due_timer_.take();  // its timer may have run meanwhile
  if (next != 0) due_timer_.arm(next);
  if (page->more || page->next_due != 0) due_timer_.arm(page->more ? context_.wall() : page->next_due);
}

void HeldDeliveries::on_store_recovered() {
  if (due_timer_.next() != 0 && !loading_) due_timer_.arm(due_timer_.take());
}

bool HeldDeliveries::requeue(const records::Delivery& delivery, const Topic& topic, protocol::Lane lane,
                             std::string reason) {
  AgentState* to = agents_.find(delivery.to.value());
  if (to == nullptr || to->removing || changes_during_read_.has(DeliveryChange::Finished, delivery.key) ||
      changes_during_read_.has(DeliveryChange::Requeued, delivery.key))
    return false;
  changes_during_read_.add(DeliveryChange::Requeued, delivery.key);
  if (delivery.hold != records::Hold::None) to->mailbox.release_one();
  records::Delivery moved = delivery;
  moved.lane = lane;
  moved.rank = context_.next_key();
  moved.seq = streams_.next(topic, delivery.from, delivery.to, lane);
  moved.state = DeliveryState::Queued;
  moved.proof = Proof::Stored;
  moved.hold = records::Hold::None;
  commits_.save_eventually(
      records::SetStream{{topic, moved.from, moved.to, lane, moved.seq, Seq{}}});  // saved again with it
  commits_.save_eventually(
      records::RequeueDelivery{moved.key, lane, moved.rank, moved.seq, context_.wall(), std::move(reason)});
  commits_.when_saved([this, moved = std::move(moved)] {
    AgentState* agent = agents_.find(moved.to.value());
    changes_during_read_.stored(DeliveryChange::Requeued, moved.key);
    if (agent == nullptr || changes_during_read_.has(DeliveryChange::Finished, moved.key)) return;
    if (auto unsettled = agent->mailbox.move_unsettled(moved.key, moved.lane)) {
      // Its session already has it; a new DELIVER gives its new lane and number.
      agent->mailbox.committed({moved, std::move(unsettled->message)}, context_.limits().max_page_rows);
    } else {
      agent->mailbox.drop(moved.key);
      agent->mailbox.moved(moved.key, moved.rank);
      agent->mailbox.expect(moved.lane, moved.from);
      if (lane_state(*agent, moved.lane).block == LaneBlock::Unsupported) unsupported_.defer(*agent, moved);
    }
    deliveries_.deliver_pending(*agent);
  });
  return true;
}

}  // namespace relay::broker
