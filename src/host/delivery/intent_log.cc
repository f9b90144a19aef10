#include "host/delivery/intent_log.h"

#include "base/format.h"
#include "protocol/limits.h"

namespace relay::host {
namespace {

constexpr std::size_t kMaxOutcomeBytes = 1'024;  // far more than an outcome needs
constexpr std::size_t kMaxLines = 4 * IntentLog::kMaxIntents;

std::string encode_line(const std::string& delivery, const std::string& end) {
  return end.empty() ? delivery + "\n" : format("{} {}\n", delivery, end);
}

}  // namespace

Result<void> IntentLog::load() {
  constexpr std::size_t kMaxBytes = kMaxLines * (protocol::kMaxIdBytes + kMaxOutcomeBytes + 2);
  const auto text = RELAY_TRY(directory_.read(name_, kMaxBytes)).value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    parse_line(std::string_view{text}.substr(at, end - at));
    at = end + 1;
  }
  return {};
}

/// A delivery id, optionally followed by a blank and the receipt. An outcome without its intent counts as both.
void IntentLog::parse_line(std::string_view line) {
  const auto blank = std::min(line.find(' '), line.size());
  const std::string delivery{line.substr(0, blank)};
  if (delivery.empty()) return;
  const auto [entry, added] = outcomes_.try_emplace(delivery);
  if (added) intents_.push_back(delivery);
  if (blank < line.size()) entry->second = line.substr(blank + 1);
  drop_oldest();
}

void IntentLog::drop_oldest() {
  while (intents_.size() > kMaxIntents) {
    outcomes_.erase(intents_.front());
    intents_.pop_front();
  }
}

std::optional<protocol::Receipt> IntentLog::outcome_of(const std::string& delivery) const {
  const auto entry = outcomes_.find(delivery);
  if (entry == outcomes_.end() || entry->second.empty()) return std::nullopt;
  auto receipt = protocol::parse_receipt(entry->second);  // a torn line is not an outcome
  return receipt ? std::optional{*std::move(receipt)} : std::nullopt;
}

Result<void> IntentLog::add(const std::string& delivery) {
  if (contains(delivery)) return {};
  intents_.push_back(delivery);
  outcomes_.emplace(delivery, "");
  auto written = append(encode_line(delivery, ""));
  if (written) {
    drop_oldest();
  } else {
    intents_.pop_back();
    outcomes_.erase(delivery);
  }
  return written;
}

void IntentLog::add_outcome(const std::string& delivery, const protocol::Receipt& receipt) {
  const auto entry = outcomes_.find(delivery);
  if (entry == outcomes_.end()) return;
  auto named = receipt;
  named.delivery_id = delivery;
  auto end = protocol::write_receipt(named);
  if (end.size() > kMaxOutcomeBytes || end.contains('\n')) return;
  entry->second = std::move(end);
  (void)append(encode_line(delivery, entry->second));
}

Result<void> IntentLog::append(const std::string& line) {
  if (!file_ || lines_ >= kMaxLines) return rewrite();
  auto written = file_->append(line);
  if (!written) file_.reset();  // a part of the line may be in the file
  ++lines_;
  return written;
}

Result<void> IntentLog::rewrite() {
  const std::string fresh = name_ + ".new";
  file_.reset();
  std::string text;
  for (const auto& delivery : intents_) text += encode_line(delivery, outcomes_.at(delivery));
  auto file = RELAY_TRY(directory_.create(fresh));
  RELAY_TRY(file->append(text));
  RELAY_TRY(directory_.replace(name_, fresh));
  file_ = std::move(file);
  lines_ = intents_.size();
  return {};
}

}  // namespace relay::host
