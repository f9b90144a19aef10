#include "host/delivery/intent_log.h"

#include "base/format.h"
#include "protocol/limits.h"

namespace relay::host {
namespace {

constexpr std::size_t kMaxEndBytes = 1'024;  // far more than any end needs that we can tell
constexpr std::size_t kMaxLines = 4 * IntentLog::kMaxNotes;

std::string line_of(const std::string& delivery, const std::string& end) {
  return end.empty() ? delivery + "\n" : format("{} {}\n", delivery, end);
}

}  // namespace

Result<void> IntentLog::load() {
  constexpr std::size_t kMaxBytes = kMaxLines * (protocol::kMaxIdBytes + kMaxEndBytes + 2);
  const auto text = RELAY_TRY(directory_.read(name_, kMaxBytes)).value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    keep(std::string_view{text}.substr(at, end - at));
    at = end + 1;
  }
  return {};
}

/// The delivery's id, and perhaps a blank and the receipt. An end without its note is as good as both.
void IntentLog::keep(std::string_view line) {
  const auto blank = std::min(line.find(' '), line.size());
  const std::string delivery{line.substr(0, blank)};
  if (delivery.empty()) return;
  const auto [note, fresh] = ends_.try_emplace(delivery);
  if (fresh) notes_.push_back(delivery);
  if (blank < line.size()) note->second = line.substr(blank + 1);
  forget_oldest();
}

void IntentLog::forget_oldest() {
  while (notes_.size() > kMaxNotes) {
    ends_.erase(notes_.front());
    notes_.pop_front();
  }
}

std::optional<protocol::Receipt> IntentLog::end_of(const std::string& delivery) const {
  const auto note = ends_.find(delivery);
  if (note == ends_.end() || note->second.empty()) return std::nullopt;
  auto receipt = protocol::parse_receipt(note->second);  // a torn line is no knowledge
  return receipt ? std::optional{*std::move(receipt)} : std::nullopt;
}

Result<void> IntentLog::add(const std::string& delivery) {
  if (contains(delivery)) return {};
  notes_.push_back(delivery);
  ends_.emplace(delivery, "");
  auto written = append(line_of(delivery, ""));
  if (written) {
    forget_oldest();
  } else {
    notes_.pop_back();
    ends_.erase(delivery);
  }
  return written;
}

void IntentLog::add_outcome(const std::string& delivery, const protocol::Receipt& receipt) {
  const auto note = ends_.find(delivery);
  if (note == ends_.end()) return;
  auto named = receipt;
  named.delivery_id = delivery;
  auto end = protocol::write_receipt(named);
  if (end.size() > kMaxEndBytes || end.contains('\n')) return;
  note->second = std::move(end);
  (void)append(line_of(delivery, note->second));
}

Result<void> IntentLog::append(const std::string& line) {
  if (!file_ || lines_ >= kMaxLines) return rewrite();
  auto written = file_->append(line);
  if (!written) file_.reset();  // nobody knows how much of it is there
  ++lines_;
  return written;
}

Result<void> IntentLog::rewrite() {
  const std::string fresh = name_ + ".new";
  file_.reset();
  std::string text;
  for (const auto& note : notes_) text += line_of(note, ends_.at(note));
  auto file = RELAY_TRY(directory_.create(fresh));
  RELAY_TRY(file->append(text));
  RELAY_TRY(directory_.replace(name_, fresh));
  file_ = std::move(file);
  lines_ = notes_.size();
  return {};
}

}  // namespace relay::host
