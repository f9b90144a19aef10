#include "confusion_matrix.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/format.h"

namespace relay::accuracy {
namespace {

constexpr Outcome kDelivered[] = {Outcome::Seen, Outcome::Submitted, Outcome::Accepted};
constexpr Outcome kUndelivered[] = {Outcome::Failed, Outcome::Expired, Outcome::Dead, Outcome::Cancelled};

std::size_t row_of(Outcome outcome) { return static_cast<std::size_t>(outcome); }

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Seen: return "delivered/seen";
    case Outcome::Submitted: return "delivered/submitted";
    case Outcome::Accepted: return "delivered/accepted";
    case Outcome::InDoubt: return "in_doubt";
    case Outcome::Failed: return "failed";
    case Outcome::Expired: return "expired";
    case Outcome::Dead: return "dead";
    case Outcome::Cancelled: return "cancelled";
    case Outcome::Pending: return "pending";
    case Outcome::Missing: return "missing";
  }
  std::unreachable();
}

Outcome parse_outcome(std::string_view state, std::string_view proof) {
  if (state == "delivered")
    return proof == "seen" ? Outcome::Seen : proof == "submitted" ? Outcome::Submitted : Outcome::Accepted;
  for (const auto each : {Outcome::InDoubt, Outcome::Failed, Outcome::Expired, Outcome::Dead, Outcome::Cancelled})
    if (state == name_of(each)) return each;
  return Outcome::Pending;
}

bool is_final(Outcome outcome) { return outcome != Outcome::Pending && outcome != Outcome::Missing; }

void ConfusionMatrix::add(Outcome outcome, std::size_t times_received, Undelivered undelivered) {
  ++cells_[row_of(outcome)][std::min(times_received, kColumns - 1)];
  if (undelivered == Undelivered::Allowed && times_received == 0 &&
      std::ranges::find(kUndelivered, outcome) != std::end(kUndelivered))
    ++allowed_;
}

std::uint64_t ConfusionMatrix::count(Outcome outcome, std::size_t times_received) const {
  return cells_[row_of(outcome)][std::min(times_received, kColumns - 1)];
}

std::uint64_t ConfusionMatrix::all(Outcome outcome) const {
  const auto& row = cells_[row_of(outcome)];
  return std::accumulate(row.begin(), row.end(), std::uint64_t{0});
}

std::uint64_t ConfusionMatrix::all() const {
  std::uint64_t sum = 0;
  for (const auto& row : cells_) sum += std::accumulate(row.begin(), row.end(), std::uint64_t{0});
  return sum;
}

std::uint64_t ConfusionMatrix::false_delivered() const {
  std::uint64_t sum = 0;
  for (const auto each : kDelivered) sum += count(each, 0);
  return sum;
}

std::uint64_t ConfusionMatrix::undelivered() const {
  std::uint64_t sum = 0;
  for (const auto each : kUndelivered) sum += count(each, 0);
  return sum;
}

std::uint64_t ConfusionMatrix::lost() const {
  return all(Outcome::Pending) + all(Outcome::Missing) + undelivered() - allowed();
}

std::uint64_t ConfusionMatrix::duplicated() const {
  std::uint64_t sum = 0;
  for (const auto& row : cells_) sum += row.back();
  return sum;
}

std::uint64_t ConfusionMatrix::false_undelivered() const {
  std::uint64_t sum = 0;
  for (const auto each : kUndelivered) sum += all(each) - count(each, 0);
  return sum;
}

std::string ConfusionMatrix::table() const {
  auto text = relay::format("{:<21} {:>11} {:>11} {:>11}\n", "recorded state", "not received", "once", "more often");
  for (std::size_t row = 0; row < kOutcomes; ++row) {
    const auto outcome = static_cast<Outcome>(row);
    if (all(outcome) == 0) continue;
    text += relay::format("{:<21} {:>11} {:>11} {:>11}\n", name_of(outcome), cells_[row][0], cells_[row][1],
                          cells_[row][2]);
  }
  return text;
}

}  // namespace relay::accuracy
