/// Held deliveries: requeued when they are due, or when the user flushes them.
/// Threading: the broker's.
#pragma once

#include <string>

#include "broker/deliveries.h"
#include "broker/store_queries.h"
#include "broker/unsupported_lanes.h"

namespace relay::broker {

class HeldDeliveries {
 public:
  HeldDeliveries(Context& context, CommitPipeline& commits, Agents& agents, Streams& streams, StoreQueries& queries,
                 ChangesDuringRead& changes_during_read, DueTimer& due_timer, Deliveries& deliveries,
                 UnsupportedLanes& unsupported)
      : context_{context},
        commits_{commits},
        agents_{agents},
        streams_{streams},
        queries_{queries},
        changes_during_read_{changes_during_read},
        due_timer_{due_timer},
        deliveries_{deliveries},
        unsupported_{unsupported} {}

  void on_due();
  void on_store_recovered();
  /// Gives a delivery a new rank at the end of a queue, once that is saved; false when it has already ended.
  bool requeue(const records::Delivery& delivery, const Topic& topic, protocol::Lane lane, std::string reason);

 private:
  void on_due_page(const Result<records::HeldPage>& page);

  Context& context_;
  CommitPipeline& commits_;
  Agents& agents_;
  Streams& streams_;
  StoreQueries& queries_;
  ChangesDuringRead& changes_during_read_;
  DueTimer& due_timer_;
  Deliveries& deliveries_;
  UnsupportedLanes& unsupported_;
  bool loading_ = false;
};

}  // namespace relay::broker
