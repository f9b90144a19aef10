/// Expired deliveries. The store marks them (records::state_on_expiry), and this part reports them.
///
/// Invariant: at most one request is open, and none while changes of a failed commit are unsaved: the store would mark
///   delivered deliveries as expired.
/// Threading: the broker's.
#pragma once

#include <optional>
#include <string_view>

#include "broker/deliveries.h"
#include "broker/sender_receipts.h"

namespace relay::broker {

class Expiry {
 public:
  Expiry(Context& context, CommitPipeline& commits, Agents& agents, ChangesDuringRead& changes_during_read,
         Settlement& settlement, Deliveries& deliveries, SenderReceipts& receipts)
      : context_{context},
        commits_{commits},
        agents_{agents},
        changes_during_read_{changes_during_read},
        settlement_{settlement},
        deliveries_{deliveries},
        receipts_{receipts} {}

  /// A pending delivery expires at that time.
  void arm(WallMs at);
  /// When `on_tick` must be called.
  [[nodiscard]] std::optional<SteadyTime> due() const { return due_; }
  void on_tick() {
    if (due_ && *due_ <= context_.steady()) expire();
  }
  void on_expired(const records::ExpireResult& result);
  void on_expire_failed(std::string_view why);

 private:
  void expire();

  Context& context_;
  CommitPipeline& commits_;
  Agents& agents_;
  ChangesDuringRead& changes_during_read_;
  Settlement& settlement_;
  Deliveries& deliveries_;
  SenderReceipts& receipts_;
  WallMs next_ = 0;  // the earliest expires_at; 0 when none
  std::optional<SteadyTime> due_;
  std::optional<ChangesDuringRead::ReadId> request_;  // the open request
};

}  // namespace relay::broker
