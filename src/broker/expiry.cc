#include "broker/expiry.h"

#include <algorithm>

#include "base/format.h"

namespace relay::broker {

namespace {

constexpr Millis kExpiryRetryDelay{1'000};

}  // namespace

void Expiry::arm(WallMs at) {
  if (next_ != 0 && next_ <= at && (due_ || request_)) return;
  next_ = next_ == 0 ? at : std::min(at, next_);
  const auto wait = std::clamp(Millis{next_ - context_.wall()}, Millis{0}, kMaxTimerWait);
  if (!request_) due_ = context_.steady() + wait;
}

void Expiry::expire() {
  due_.reset();
  if (request_ || next_ == 0) return;
  if (next_ > context_.wall()) return arm(next_);
  if (!commits_.is_healthy() || !commits_.is_everything_saved()) {
    // Receipts of failed commits are not in the store yet; it would mark delivered deliveries as expired.
    due_ = context_.steady() + kExpiryRetryDelay;
    return;
  }
  next_ = 0;
  commits_.flush();
  request_ = changes_during_read_.start_read();
  context_.emit(ExpireDue{{.now = context_.wall()}});
}

void Expiry::on_expired(const records::ExpireResult& result) {
  const WallMs next = std::exchange(next_, 0);
  for (const auto& expired : result.expired) {
    if (changes_during_read_.has(DeliveryChange::Finished, expired.delivery)) continue;  // it was finished first
    if (AgentState* to = agents_.find(expired.to.value())) {
      if (to->mailbox.is_with_session(expired.delivery)) deliveries_.send_cancel(*to, expired.delivery, expired.reason);
      to->mailbox.drop(expired.delivery);
      if (changes_during_read_.is_held(expired.delivery, expired.hold != records::Hold::None))
        to->mailbox.release_one();
      settlement_.settle(*to, expired.delivery);
      changes_during_read_.stored(DeliveryChange::Finished, expired.delivery);
      deliveries_.deliver_pending(*to);
    }
    // The store made the change, so there is nothing to save.
    receipts_.send(expired.message,
                   {.key = expired.delivery, .state = expired.state, .at = context_.wall(), .reason = expired.reason},
                   protocol::NackCode::Expired);
  }
  changes_during_read_.end_read(*std::exchange(request_, std::nullopt));
  if (next != 0) arm(next);
  if (result.next_expiry != 0) arm(result.next_expiry);
}

void Expiry::on_expire_failed(std::string_view why) {
  context_.log(WriteLog::Level::Warn, format("cannot mark expired deliveries error=\"{}\"", why));
  changes_during_read_.end_read(*std::exchange(request_, std::nullopt));
  next_ = next_ == 0 ? context_.wall() : std::min(next_, context_.wall());  // still due
  due_ = context_.steady() + kExpiryRetryDelay;
}

}  // namespace relay::broker
