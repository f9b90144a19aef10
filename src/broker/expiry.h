/// Deliveries whose time is over. The store marks them, and this part reports it.
///
/// Invariant: at most one request is open. While something of a failed commit is unsaved none is made: the store would take
///   for expired what was delivered.
/// Threading: the broker's.
#pragma once

#include <optional>
#include <string_view>

#include "broker/deliveries.h"
#include "broker/sender_receipts.h"

namespace relay::broker {

class Expiry {
 public:
  Expiry(Context& context, CommitPipeline& commits, Agents& agents, UnseenChanges& unseen, Settlement& settlement,
         Deliveries& deliveries, SenderReceipts& receipts)
      : context_{context},
        commits_{commits},
        agents_{agents},
        unseen_{unseen},
        settlement_{settlement},
        deliveries_{deliveries},
        receipts_{receipts} {}

  /// A pending delivery expires then.
  void arm(WallMs at);
  /// When `on_tick` is wanted.
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
  UnseenChanges& unseen_;
  Settlement& settlement_;
  Deliveries& deliveries_;
  SenderReceipts& receipts_;
  WallMs next_ = 0;  // earliest expires_at known; 0 when none
  std::optional<SteadyTime> due_;
  std::optional<UnseenChanges::ReadId> request_;  // that is open
};

}  // namespace relay::broker
