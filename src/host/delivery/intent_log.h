/// The intent of each delivery, on disk before its first byte, and its outcome: after a crash no message is delivered
/// twice, and no logged outcome is lost.
///
/// When a host dies between the first byte and the outcome, the next host finds the intent and reports the delivery as
/// in doubt instead of delivering it again. An outcome is logged before it is reported; the next host reports it again.
/// A report does not remove entries, because the daemon may not have stored it. The log holds the newest kMaxIntents, the
/// maximum of unsettled deliveries of a host: the daemon has the outcomes of older ones.
/// Not synced: the log must survive the host, and a power failure ends the agent too.
/// Invariant of the file: a line for each intent and each outcome; the last line of a delivery counts. Lines are
///   appended; after a failed append the file is rewritten.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/directory.h"
#include "base/result.h"
#include "protocol/send.h"

namespace relay::host {

class IntentLog {
 public:
  static constexpr std::size_t kMaxIntents = 2'048;

  /// `name`: of the file. The directory outlives the log.
  IntentLog(Directory& directory, std::string name) : directory_{directory}, name_{std::move(name)} {}

  /// Reads the log of the previous host.
  Result<void> load();
  [[nodiscard]] bool contains(const std::string& delivery) const { return outcomes_.contains(delivery); }
  /// The logged outcome, if there is one.
  [[nodiscard]] std::optional<protocol::Receipt> outcome_of(const std::string& delivery) const;

  Result<void> add(const std::string& delivery);
  /// Ignored for a delivery without an intent. If the write fails, the delivery stays in doubt.
  void add_outcome(const std::string& delivery, const protocol::Receipt& receipt);

 private:
  void parse_line(std::string_view line);
  void drop_oldest();
  Result<void> append(const std::string& line);
  Result<void> rewrite();

  Directory& directory_;
  std::string name_;
  std::deque<std::string> intents_;                        // oldest first
  std::unordered_map<std::string, std::string> outcomes_;  // by delivery: the receipt; empty without an outcome
  std::unique_ptr<AppendFile> file_;                       // null: the file must be rewritten
  std::size_t lines_ = 0;
};

}  // namespace relay::host
