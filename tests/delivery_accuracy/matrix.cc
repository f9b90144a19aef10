#include "matrix.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/format.h"

namespace relay::verdicts {
namespace {

constexpr Verdict kDelivered[] = {Verdict::Seen, Verdict::Submitted, Verdict::Accepted};
constexpr Verdict kEndedWithout[] = {Verdict::Failed, Verdict::Expired, Verdict::Dead, Verdict::Cancelled};

std::size_t row_of(Verdict verdict) { return static_cast<std::size_t>(verdict); }

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Seen: return "delivered/seen";
    case Verdict::Submitted: return "delivered/submitted";
    case Verdict::Accepted: return "delivered/accepted";
    case Verdict::InDoubt: return "in_doubt";
    case Verdict::Failed: return "failed";
    case Verdict::Expired: return "expired";
    case Verdict::Dead: return "dead";
    case Verdict::Cancelled: return "cancelled";
    case Verdict::Pending: return "pending";
    case Verdict::Missing: return "missing";
  }
  std::unreachable();
}

Verdict verdict_of(std::string_view state, std::string_view proof) {
  if (state == "delivered")
    return proof == "seen" ? Verdict::Seen : proof == "submitted" ? Verdict::Submitted : Verdict::Accepted;
  for (const auto each : {Verdict::InDoubt, Verdict::Failed, Verdict::Expired, Verdict::Dead, Verdict::Cancelled})
    if (state == name_of(each)) return each;
  return Verdict::Pending;
}

bool is_final(Verdict verdict) { return verdict != Verdict::Pending && verdict != Verdict::Missing; }

void Matrix::add(Verdict verdict, std::size_t times_received, Leave leave) {
  ++cells_[row_of(verdict)][std::min(times_received, kColumns - 1)];
  if (leave == Leave::ToEnd && times_received == 0 &&
      std::ranges::find(kEndedWithout, verdict) != std::end(kEndedWithout))
    ++excused_;
}

std::uint64_t Matrix::count(Verdict verdict, std::size_t times_received) const {
  return cells_[row_of(verdict)][std::min(times_received, kColumns - 1)];
}

std::uint64_t Matrix::all(Verdict verdict) const {
  const auto& row = cells_[row_of(verdict)];
  return std::accumulate(row.begin(), row.end(), std::uint64_t{0});
}

std::uint64_t Matrix::all() const {
  std::uint64_t sum = 0;
  for (const auto& row : cells_) sum += std::accumulate(row.begin(), row.end(), std::uint64_t{0});
  return sum;
}

std::uint64_t Matrix::false_delivered() const {
  std::uint64_t sum = 0;
  for (const auto each : kDelivered) sum += count(each, 0);
  return sum;
}

std::uint64_t Matrix::undelivered() const {
  std::uint64_t sum = 0;
  for (const auto each : kEndedWithout) sum += count(each, 0);
  return sum;
}

std::uint64_t Matrix::lost() const { return all(Verdict::Pending) + all(Verdict::Missing) + undelivered() - excused(); }

std::uint64_t Matrix::doubled() const {
  std::uint64_t sum = 0;
  for (const auto& row : cells_) sum += row.back();
  return sum;
}

std::uint64_t Matrix::denied() const {
  std::uint64_t sum = 0;
  for (const auto each : kEndedWithout) sum += all(each) - count(each, 0);
  return sum;
}

std::string Matrix::table() const {
  auto text =
      relay::format("{:<21} {:>11} {:>11} {:>11}\n", "the ledger says", "never given", "given once", "more often");
  for (std::size_t row = 0; row < kVerdicts; ++row) {
    const auto verdict = static_cast<Verdict>(row);
    if (all(verdict) == 0) continue;
    text += relay::format("{:<21} {:>11} {:>11} {:>11}\n", name_of(verdict), cells_[row][0], cells_[row][1],
                          cells_[row][2]);
  }
  return text;
}

}  // namespace relay::verdicts
