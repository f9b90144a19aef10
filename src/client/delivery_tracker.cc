#include "client/delivery_tracker.h"

#include <algorithm>
#include <array>
#include <utility>

namespace relay::client {
namespace {

using protocol::Receipt;
using protocol::ReceiptStatus;

/// From weak to strong. An unknown proof counts as the weakest.
constexpr std::array<std::string_view, 4> kProofs{"accepted", "written", "submitted", "seen"};

std::size_t strength_of(std::string_view proof) {
  const auto* const found = std::ranges::find(kProofs, proof);
  return found == kProofs.end() ? 0 : static_cast<std::size_t>(found - kProofs.begin());
}

/// A stronger proof replaces a weaker one, and Delivered replaces InDoubt.
bool proves_more(const Receipt& later, const Receipt& earlier) {
  if (later.status != ReceiptStatus::Delivered) return false;
  return earlier.status == ReceiptStatus::InDoubt ||
         (earlier.status == ReceiptStatus::Delivered && strength_of(later.proof) > strength_of(earlier.proof));
}

}  // namespace

std::vector<std::string> DeliveryTracker::ids() const {
  std::vector<std::string> all;
  for (const auto& [id, ref] : unsettled_) all.push_back(id);
  return all;
}

const DeliveryRef* DeliveryTracker::find(std::string_view id) const {
  const auto found = unsettled_.find(id);
  return found == unsettled_.end() ? nullptr : &found->second.ref;
}

const Receipt* DeliveryTracker::last_receipt(std::string_view id) const {
  const auto found = last_receipts_.find(id);
  return found == last_receipts_.end() ? nullptr : &found->second.receipt;
}

void DeliveryTracker::take(const DeliveryRef& ref) {
  if (last_receipts_.erase(ref.id) > 0) std::erase(by_age_, ref.id);
  resends_.erase(ref.id);
  unsettled_.insert_or_assign(ref.id, Unsettled{ref});
}

void DeliveryTracker::move(const DeliveryRef& ref) { unsettled_.find(ref.id)->second = Unsettled{ref}; }

void DeliveryTracker::on_resent(std::string_view id) { unsettled_.find(id)->second.on_this_connection = true; }

std::optional<DeliveryRef> DeliveryTracker::acknowledge(std::string_view id) {
  const auto held = unsettled_.find(id);
  if (held == unsettled_.end()) return std::nullopt;
  remember({.receipt = {.status = ReceiptStatus::Delivered, .delivery_id = std::string{id}, .proof = "accepted"},
            .reported = held->second.on_this_connection,
            .by_ack = true});
  return std::move(unsettled_.extract(held).mapped().ref);
}

bool DeliveryTracker::acknowledged(std::string_view id) const {
  const auto found = last_receipts_.find(id);
  return found != last_receipts_.end() && found->second.by_ack;
}

std::optional<Receipt> DeliveryTracker::report(std::string_view id, Receipt receipt) {
  receipt.delivery_id = id;
  if (keeps_delivery(receipt)) return find(id) != nullptr ? std::optional{std::move(receipt)} : std::nullopt;
  bool reported = false;
  if (const auto held = unsettled_.find(id); held != unsettled_.end()) {
    reported = held->second.on_this_connection;
    unsettled_.erase(held);
  } else {
    const auto before = last_receipts_.find(id);
    if (before == last_receipts_.end() || !proves_more(receipt, before->second.receipt)) return std::nullopt;
    reported = before->second.reported;
  }
  remember({receipt, reported});
  return receipt;
}

void DeliveryTracker::remember(LastReceipt last) {
  auto id = last.receipt.delivery_id;
  if (!last_receipts_.insert_or_assign(id, std::move(last)).second) std::erase(by_age_, id);
  by_age_.push_back(std::move(id));
  while (by_age_.size() > kMaxUnacknowledged) {
    last_receipts_.erase(by_age_.front());
    resends_.erase(by_age_.front());
    by_age_.pop_front();
  }
}

bool DeliveryTracker::should_resend(std::string_view id) {
  auto& last = last_receipts_.find(id)->second;
  const bool reported = std::exchange(last.reported, true);
  return !reported || !returns_delivery(last.receipt);
}

void DeliveryTracker::on_new_connection() {
  for (auto& [id, held] : unsettled_) held.on_this_connection = false;
  for (auto& [id, last] : last_receipts_) last.reported = false;
  const auto newest = std::min(by_age_.size(), kMaxResends);
  for (auto id = by_age_.end() - static_cast<std::ptrdiff_t>(newest); id != by_age_.end(); ++id)
    if (!returns_delivery(last_receipts_.at(*id).receipt)) queue_resend(*id);
}

void DeliveryTracker::queue_resend(std::string_view id) { resends_.emplace(id); }

std::vector<Receipt> DeliveryTracker::take_resends() {
  std::vector<Receipt> all;
  for (const auto& id : std::exchange(resends_, {}))
    if (const auto* const receipt = last_receipt(id)) all.push_back(*receipt);
  return all;
}

void DeliveryTracker::clear() { *this = DeliveryTracker{}; }

}  // namespace relay::client
