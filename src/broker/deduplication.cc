#include "broker/deduplication.h"

#include <algorithm>
#include <charconv>
#include <functional>

namespace relay::broker {

RecentIds::Fingerprint RecentIds::fingerprint_of(std::string_view id) {
  // FNV-1a beside the library's hash: the two functions collide independently.
  std::uint64_t fnv = 0xCBF29CE484222325ULL;
  for (const char c : id) fnv = (fnv ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return {std::hash<std::string_view>{}(id), fnv};
}

std::optional<Key> RecentIds::find(std::string_view id) const {
  const Fingerprint print = fingerprint_of(id);
  for (auto place = firsts_.begin(); (place = std::find(place, firsts_.end(), print.first)) != firsts_.end(); ++place) {
    const auto at = static_cast<std::size_t>(place - firsts_.begin());
    if (seconds_[at] == print.second) return messages_[at];
  }
  return std::nullopt;
}

void RecentIds::add(std::string_view id, Key message) {
  const Fingerprint print = fingerprint_of(id);
  if (firsts_.size() < kIds) {
    firsts_.push_back(print.first);
    seconds_.push_back(print.second);
    messages_.push_back(message);
    return;
  }
  firsts_[next_] = print.first;
  seconds_[next_] = print.second;
  messages_[next_] = message;
  next_ = (next_ + 1) % kIds;
}

void RecentIds::remove(std::string_view id) {
  const Fingerprint print = fingerprint_of(id);
  for (std::size_t i = 0; i < firsts_.size(); ++i) {
    if (firsts_[i] == print.first && seconds_[i] == print.second) firsts_[i] = seconds_[i] = 0;
  }
}

void OutboxMarks::restore(records::OutboxMark mark) {
  auto epoch = mark.epoch;
  marks_.insert_or_assign(std::move(epoch), std::move(mark));
}

SequenceCheck OutboxMarks::look_up(const std::string& epoch, std::uint64_t number, std::uint64_t floor) const {
  const auto place = marks_.find(epoch);
  const std::uint64_t high = std::max(floor, place == marks_.end() ? 0 : place->second.high);
  if (number == high + 1) return SequenceCheck::Next;
  if (number > high) return SequenceCheck::Gap;
  if (place == marks_.end()) return SequenceCheck::Duplicate;
  return std::ranges::find(place->second.refused, number) != place->second.refused.end() ? SequenceCheck::Refused
                                                                                         : SequenceCheck::Duplicate;
}

const records::OutboxMark& OutboxMarks::advance(const AgentName& sender, const std::string& epoch, std::uint64_t number,
                                                bool refused, WallMs now) {
  if (!marks_.contains(epoch) && marks_.size() >= kEpochs) {
    marks_.erase(std::ranges::min_element(marks_, {}, [](const auto& entry) { return entry.second.updated; }));
  }
  records::OutboxMark& mark = marks_[epoch];
  mark.sender = sender;
  mark.epoch = epoch;
  mark.high = number;
  mark.updated = now;
  if (refused) {
    if (mark.refused.size() >= kRefusedNumbers) mark.refused.erase(mark.refused.begin());
    mark.refused.push_back(number);
  }
  return mark;
}

bool OutboxMarks::was_used_since(WallMs when) const {
  return std::ranges::any_of(marks_, [&](const auto& entry) { return entry.second.updated >= when; });
}

void OutboxMarks::roll_back(const std::string& epoch, std::uint64_t number) {
  const auto place = marks_.find(epoch);
  if (place == marks_.end() || place->second.high < number) return;
  place->second.high = number - 1;
  std::erase_if(place->second.refused, [&](std::uint64_t refused) { return refused >= number; });
}

std::optional<std::uint64_t> outbox_number(std::string_view id, std::string_view epoch) {
  if (epoch.empty() || id.size() < epoch.size() + 2 || !id.starts_with(epoch) || id[epoch.size()] != '-') {
    return std::nullopt;
  }
  const std::string_view digits = id.substr(epoch.size() + 1);
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (problem != std::errc{} || end != digits.data() + digits.size() || number == 0) return std::nullopt;
  return number;
}

}  // namespace relay::broker
