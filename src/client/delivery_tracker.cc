#include "client/delivery_tracker.h"

#include <algorithm>
#include <array>
#include <utility>

namespace relay::client {
namespace {

using protocol::Receipt;
using protocol::ReceiptStatus;

/// What is not named proves no more than that somebody took it.
constexpr std::array<std::string_view, 4> kProofs{"accepted", "written", "submitted", "seen"};

std::size_t strength_of(std::string_view proof) {
  const auto* const found = std::ranges::find(kProofs, proof);
  return found == kProofs.end() ? 0 : static_cast<std::size_t>(found - kProofs.begin());
}

/// Delivered gains proof; what was in doubt may be known after all.
bool proves_more(const Receipt& later, const Receipt& earlier) {
  if (later.status != ReceiptStatus::Delivered) return false;
  return earlier.status == ReceiptStatus::InDoubt ||
         (earlier.status == ReceiptStatus::Delivered && strength_of(later.proof) > strength_of(earlier.proof));
}

}  // namespace

std::vector<std::string> DeliveryTracker::ids() const {
  std::vector<std::string> all;
  for (const auto& [id, place] : unsettled_) all.push_back(id);
  return all;
}

const DeliveryRef* DeliveryTracker::find(std::string_view id) const {
  const auto found = unsettled_.find(id);
  return found == unsettled_.end() ? nullptr : &found->second.place;
}

const Receipt* DeliveryTracker::last_receipt(std::string_view id) const {
  const auto found = last_words_.find(id);
  return found == last_words_.end() ? nullptr : &found->second.receipt;
}

void DeliveryTracker::take(const DeliveryRef& place) {
  if (last_words_.erase(place.id) > 0) std::erase(by_age_, place.id);
  owed_.erase(place.id);
  unsettled_.insert_or_assign(place.id, Unsettled{place});
}

void DeliveryTracker::move(const DeliveryRef& place) { unsettled_.find(place.id)->second = Unsettled{place}; }

void DeliveryTracker::on_redelivered(std::string_view id) { unsettled_.find(id)->second.came_here = true; }

std::optional<DeliveryRef> DeliveryTracker::acknowledge(std::string_view id) {
  const auto held = unsettled_.find(id);
  if (held == unsettled_.end()) return std::nullopt;
  remember({.receipt = {.status = ReceiptStatus::Delivered, .delivery_id = std::string{id}, .proof = "accepted"},
            .heard = held->second.came_here,
            .by_ack = true});
  return std::move(unsettled_.extract(held).mapped().place);
}

bool DeliveryTracker::acknowledged(std::string_view id) const {
  const auto found = last_words_.find(id);
  return found != last_words_.end() && found->second.by_ack;
}

std::optional<Receipt> DeliveryTracker::report(std::string_view id, Receipt receipt) {
  receipt.delivery_id = id;
  if (keeps_delivery(receipt)) return find(id) != nullptr ? std::optional{std::move(receipt)} : std::nullopt;
  bool heard = false;
  if (const auto held = unsettled_.find(id); held != unsettled_.end()) {
    heard = held->second.came_here;
    unsettled_.erase(held);
  } else {
    const auto before = last_words_.find(id);
    if (before == last_words_.end() || !proves_more(receipt, before->second.receipt)) return std::nullopt;
    heard = before->second.heard;
  }
  remember({receipt, heard});
  return receipt;
}

void DeliveryTracker::remember(LastReceipt word) {
  auto id = word.receipt.delivery_id;
  if (!last_words_.insert_or_assign(id, std::move(word)).second) std::erase(by_age_, id);
  by_age_.push_back(std::move(id));
  while (by_age_.size() > kMaxUnacknowledged) {
    last_words_.erase(by_age_.front());
    owed_.erase(by_age_.front());
    by_age_.pop_front();
  }
}

bool DeliveryTracker::should_resend(std::string_view id) {
  auto& word = last_words_.find(id)->second;
  const bool heard = std::exchange(word.heard, true);
  return !heard || !returns_delivery(word.receipt);
}

void DeliveryTracker::on_new_connection() {
  for (auto& [id, held] : unsettled_) held.came_here = false;
  for (auto& [id, word] : last_words_) word.heard = false;
  const auto newest = std::min(by_age_.size(), kMaxResends);
  for (auto id = by_age_.end() - static_cast<std::ptrdiff_t>(newest); id != by_age_.end(); ++id)
    if (!returns_delivery(last_words_.at(*id).receipt)) queue_resend(*id);
}

void DeliveryTracker::queue_resend(std::string_view id) { owed_.emplace(id); }

std::vector<Receipt> DeliveryTracker::take_resends() {
  std::vector<Receipt> all;
  for (const auto& id : std::exchange(owed_, {}))
    if (const auto* const word = last_receipt(id)) all.push_back(*word);
  return all;
}

void DeliveryTracker::clear() { *this = DeliveryTracker{}; }

}  // namespace relay::client
