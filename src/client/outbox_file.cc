#include "client/outbox_file.h"

namespace relay::client {

Result<void> OutboxFile::rewrite(std::string_view epoch, std::uint64_t next, const std::deque<OutboxEntry>& entries) {
  std::string bytes;
  append_first_record(bytes, epoch, entries.empty() ? next : entries.front().number);
  // Numbers between two live entries were answered; a record of that prevents them from looking damaged.
  auto expected = entries.empty() ? next : entries.front().number;
  for (const auto& entry : entries) {
    for (; expected < entry.number; ++expected) {
      append_message_record(bytes, epoch, {.number = expected, .id = {}, .message = {}, .lost = true});
      append_answer_record(bytes, expected);
    }
    append_message_record(bytes, epoch, entry);
    ++expected;
  }
  for (; expected < next; ++expected) {
    append_message_record(bytes, epoch, {.number = expected, .id = {}, .message = {}, .lost = true});
    append_answer_record(bytes, expected);
  }
  const auto fresh_name = name_ + ".new";
  auto fresh = RELAY_TRY(directory_.create(fresh_name));
  RELAY_TRY(fresh->append(bytes));
  RELAY_TRY(fresh->sync());
  RELAY_TRY(directory_.replace(name_, fresh_name));
  file_.reset();  // until the name is durable, appending could go to a file that a power cut reverts
  RELAY_TRY(directory_.sync());
  file_ = std::move(fresh);
  bytes_ = bytes.size();
  dirty_ = false;
  return {};
}

Result<void> OutboxFile::continue_after(std::size_t bytes) {
  file_ = RELAY_TRY(directory_.open_append(name_));
  bytes_ = bytes;
  dirty_ = true;  // appends of the previous run may not be synced
  return {};
}

Result<void> OutboxFile::append(std::string_view records) {
  auto written = file_->append(records);
  if (!written) {
    file_.reset();
    return written;
  }
  bytes_ += records.size();
  dirty_ = true;
  return {};
}

Result<void> OutboxFile::sync() {
  if (!dirty_) return {};
  auto synced = file_->sync();
  // After a failed sync the kernel may have dropped the pages: the file is no longer trusted.
  if (!synced)
    file_.reset();
  else
    dirty_ = false;
  return synced;
}

}  // namespace relay::client
