/// Detection of repeated messages of a sender, by two methods: one without a time limit, one for the newest messages.
///
/// A durable outbox numbers its sends `<epoch>-<n>` from 1 without gaps, so one high-water mark per epoch detects every
/// duplicate. A pruned mark is replaced by the number before the connection's first one (see look_up). For other senders
/// there is a window of the newest ids. Neither needs an index on random text in the store: marks are small rows, and
/// windows are rebuilt from the newest messages after a restart.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/records.h"

namespace relay::broker {

/// The newest ids of one sender, as 128-bit fingerprints.
class RecentIds {
 public:
  static constexpr std::size_t kIds = 512;

  [[nodiscard]] bool empty() const { return firsts_.empty(); }
  [[nodiscard]] bool contains(std::string_view id) const { return find(id).has_value(); }
  /// The message with that id; Key{} if only the id is stored.
  [[nodiscard]] std::optional<Key> find(std::string_view id) const;
  void add(std::string_view id, Key message = {});
  /// The message was not stored.
  void remove(std::string_view id);

 private:
  struct Fingerprint {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
  };
  static Fingerprint fingerprint_of(std::string_view id);

  // Separate arrays: the search reads only the first, eight ids per cache line.
  std::vector<std::uint64_t> firsts_;
  std::vector<std::uint64_t> seconds_;
  std::vector<Key> messages_;
  std::size_t next_ = 0;
};

enum class SequenceCheck : std::uint8_t {
  Next,       // the expected number
  Duplicate,  // accepted before
  Refused,    // refused permanently before
  Gap,        // an earlier number is missing: after a retryable refusal it was not resent yet
};

/// The outboxes of one sender.
class OutboxMarks {
 public:
  static constexpr std::size_t kEpochs = 64;           // per sender; the least recently used is dropped
  static constexpr std::size_t kRefusedNumbers = 256;  // remembered per epoch

  void restore(records::OutboxMark mark);

  /// `floor`: one less than the first number that this connection sent. Lower numbers were all answered, because an
  /// outbox sends its oldest unanswered message first. It replaces a mark that was pruned or lost with a damaged store.
  [[nodiscard]] SequenceCheck look_up(const std::string& epoch, std::uint64_t number, std::uint64_t floor = 0) const;
  /// The number was answered (accepted or refused permanently); returns the mark to store.
  const records::OutboxMark& advance(const AgentName& sender, const std::string& epoch, std::uint64_t number,
                                     bool refused, WallMs now);
  /// True if a number of one of them was answered since then.
  [[nodiscard]] bool was_used_since(WallMs when) const;
  /// A commit failed: that number and all later ones are expected again.
  void roll_back(const std::string& epoch, std::uint64_t number);

 private:
  std::map<std::string, records::OutboxMark, std::less<>> marks_;
};

/// The number in `<epoch>-<n>`; empty when the id has another form.
std::optional<std::uint64_t> outbox_number(std::string_view id, std::string_view epoch);

}  // namespace relay::broker
