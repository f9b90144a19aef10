/// The intent of each delivery, on disk before its first byte, and its outcome: after a crash no message is delivered
/// twice, and no known outcome is lost.
///
/// A host that dies between the first byte and the outcome leaves a real doubt. The next host finds the intent here and
/// reports the delivery as in doubt instead of delivering it again. An outcome is logged before it is reported, because
/// the daemon may be away; the next host then reports it.
/// Entries are never removed after a report, because a report does not mean that the daemon has stored it. The newest
/// kMaxNotes are kept, as many as a host has unsettled at most: the outcome of an older delivery is at the daemon.
/// Not synced: it must outlive the host, and a power cut ends the agent as well.
/// Invariant of the file: a line for each intent and each outcome, the last one of a delivery counts; appended to while
///   all that was written is known to be whole, otherwise rewritten.
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
  static constexpr std::size_t kMaxNotes = 2'048;

  /// `name`: of the file. The directory outlives this.
  IntentLog(Directory& directory, std::string name) : directory_{directory}, name_{std::move(name)} {}

  /// Reads the log of the host before this one.
  Result<void> load();
  [[nodiscard]] bool contains(const std::string& delivery) const { return ends_.contains(delivery); }
  /// Its outcome, if that is known.
  [[nodiscard]] std::optional<protocol::Receipt> end_of(const std::string& delivery) const;

  Result<void> add(const std::string& delivery);
  /// Ignored for a delivery without an intent. When it cannot be written, the delivery stays in doubt.
  void add_outcome(const std::string& delivery, const protocol::Receipt& receipt);

 private:
  void keep(std::string_view line);
  void forget_oldest();
  Result<void> append(const std::string& line);
  Result<void> rewrite();

  Directory& directory_;
  std::string name_;
  std::deque<std::string> notes_;                      // oldest first
  std::unordered_map<std::string, std::string> ends_;  // of each intent: the receipt, empty while it is not known
  std::unique_ptr<AppendFile> file_;                   // none: the file must be rewritten
  std::size_t lines_ = 0;
};

}  // namespace relay::host
