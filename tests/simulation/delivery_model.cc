#include "tests/simulation/delivery_model.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "protocol/limits.h"
#include "records/short_id.h"

namespace relay::simulation {
namespace {

using records::DeliveryState;
using records::Hold;
using S = DeliveryState;

/// From the left to each of the right. A delivery that ended undelivered can only be redelivered; one that expired or was
/// cancelled while its session's last receipt was in flight ends by that receipt.
struct Steps {
  S from;
  std::array<S, 9> to;
  std::size_t count;
};
constexpr std::array<Steps, 9> kLegal{{
    {S::Queued, {S::Accepted, S::Delivered, S::Deferred, S::Failed, S::Expired, S::Cancelled, S::InDoubt, S::Dead}, 8},
    {S::Accepted,
     {S::Accepted, S::Delivered, S::Deferred, S::Failed, S::Expired, S::Cancelled, S::InDoubt, S::Dead},
     8},
    {S::Deferred,
     {S::Accepted, S::Delivered, S::Deferred, S::Failed, S::Expired, S::Cancelled, S::InDoubt, S::Dead},
     8},
    {S::Delivered, {S::Delivered}, 1},
    {S::Failed, {S::Cancelled}, 1},
    {S::Expired, {S::Cancelled, S::Delivered, S::Failed, S::InDoubt, S::Dead}, 5},
    {S::InDoubt, {S::Cancelled, S::Delivered, S::Failed, S::Expired, S::Dead}, 5},
    {S::Dead, {S::Cancelled}, 1},
    {S::Cancelled, {S::Delivered, S::InDoubt}, 2},
}};

std::string named(const Row& row) {
  return format("{} (m{} to {})", records::delivery_id(row.delivery.key), row.number, row.delivery.to.value());
}

}  // namespace

bool is_legal(S from, S to) {
  const auto* const steps = std::ranges::find(kLegal, from, &Steps::from);
  if (steps == kLegal.end()) return false;
  const auto* const end = steps->to.begin() + steps->count;
  return std::find(steps->to.begin(), end, to) != end;
}

Row* DeliveryModel::find(Key key) {
  const auto found = rows_.find(key);
  return found == rows_.end() ? nullptr : &found->second;
}

DeliveryModel::Violation DeliveryModel::add(const records::AddDelivery& added, std::uint64_t number, WallMs sent_at) {
  const auto& delivery = added.delivery;
  Row row{.delivery = delivery, .number = number, .sent_at = sent_at};
  row.held = delivery.hold == Hold::Policy;
  row.redelivered = !made_.insert({delivery.message, delivery.to, delivery.frame_kind, delivery.shadow_of}).second;
  row.history.push_back({delivery.state, delivery.proof, added.reason});
  if (!rows_.emplace(delivery.key, std::move(row)).second)
    return format("{} was added twice", records::delivery_id(delivery.key));
  return std::nullopt;
}

DeliveryModel::Violation DeliveryModel::change(const records::ChangeDelivery& change, Timestamp now) {
  Row* const row = find(change.key);
  if (row == nullptr) return std::nullopt;
  auto& delivery = row->delivery;
  const auto from = delivery.state;
  if (records::is_final(from) && from != S::Delivered && !is_legal(from, change.state))
    return std::nullopt;  // final already
  if (from == S::Delivered && (change.state != S::Delivered || change.proof <= delivery.proof)) return std::nullopt;
  if (!is_legal(from, change.state))
    return format("{} goes from {} to {}", named(*row), name_of(from), name_of(change.state));
  const bool is_released = records::is_final(change.state) && change.state != S::Failed && change.state != S::Dead;
  if (delivery.hold != Hold::None && !is_released)
    return format("{} is held and becomes {}", named(*row), name_of(change.state));
  const auto failures = change.attempts.value_or(delivery.attempts);
  if (failures < delivery.attempts || failures > delivery.attempts + 1)
    return format("{} failed {} times and now {}", named(*row), delivery.attempts, failures);
  if (change.state == S::Dead && failures < protocol::kMaxAttempts &&
      change.at + protocol::kMaxRetryMs < row->sent_at + protocol::kMaxRetryAgeMs)
    return format("{} is dead after {} failures", named(*row), failures);
  if (change.state != S::Dead && failures >= protocol::kMaxAttempts && !records::is_final(change.state))
    return format("{} failed {} times and is still retried", named(*row), failures);
  delivery.state = change.state;
  delivery.proof = change.proof;
  delivery.hold = records::is_final(change.state) ? Hold::None : change.hold;
  delivery.available_at = delivery.hold == Hold::Time ? change.available_at : 0;
  delivery.attempts = failures;
  row->due = now.steady + Millis{std::max<WallMs>(0, change.available_at - std::min(now.wall, change.at))};
  row->history.push_back({change.state, change.proof, change.reason});
  return std::nullopt;
}

DeliveryModel::Violation DeliveryModel::requeue(const records::RequeueDelivery& change) {
  Row* const row = find(change.key);
  if (row == nullptr || records::is_final(row->delivery.state)) return std::nullopt;
  auto& delivery = row->delivery;
  if (change.rank <= delivery.rank) return format("{} was requeued before its own rank", named(*row));
  delivery.state = S::Queued;
  delivery.proof = records::Proof::Stored;
  delivery.hold = Hold::None;
  delivery.available_at = 0;
  delivery.lane = change.lane;
  delivery.rank = change.rank;
  delivery.seq = change.seq;
  ++row->requeues;
  row->history.push_back({delivery.state, delivery.proof, change.reason});
  return std::nullopt;
}

DeliveryModel::Violation DeliveryModel::expire(const records::Expired& late) {
  Row* const row = find(late.delivery);
  if (row == nullptr) return std::nullopt;
  auto& delivery = row->delivery;
  if (!is_legal(delivery.state, late.state))
    return format("{} is {} and becomes {}", named(*row), name_of(delivery.state), name_of(late.state));
  if (late.state != records::state_on_expiry(delivery.proof))
    return format("{} has expired with proof {} and becomes {}", named(*row), name_of(delivery.proof),
                  name_of(late.state));
  delivery.state = late.state;
  delivery.hold = Hold::None;
  row->expired = true;
  row->history.push_back({late.state, delivery.proof, {}});
  return std::nullopt;
}

}  // namespace relay::simulation
