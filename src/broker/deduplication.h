/// Has this sender sent this before? Two methods: one is exact for ever, one for a while.
///
/// A durable outbox numbers its sends `<epoch>-<n>` from 1 without gaps, so one high-water mark per epoch is exact for
/// ever. Ids of other senders are kept in a window of the newest per sender. Neither needs an index on random
/// text in the store: marks are tiny rows, and windows are rebuilt from the newest messages after a restart.
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
  /// The message that had it, where it is known.
  [[nodiscard]] std::optional<Key> find(std::string_view id) const;
  void add(std::string_view id, Key message = {});
  /// The message was not stored after all.
  void remove(std::string_view id);

 private:
  struct Fingerprint {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
  };
  static Fingerprint print_of(std::string_view id);

  // Arrays rather than one of structs: the search touches only the first, eight ids to a cache line.
  std::vector<std::uint64_t> firsts_;
  std::vector<std::uint64_t> seconds_;
  std::vector<Key> messages_;
  std::size_t next_ = 0;
};

enum class SequenceCheck : std::uint8_t {
  Next,       // the one that is due
  Duplicate,  // taken before
  Refused,    // refused for good before
  Gap,        // one before it is missing: after a retryable refusal it has not come again yet
};

/// The outboxes of one sender.
class OutboxMarks {
 public:
  static constexpr std::size_t kEpochs = 64;           // per sender; the longest unused goes first
  static constexpr std::size_t kRefusedNumbers = 256;  // remembered per epoch

  void restore(records::OutboxMark mark);

  /// `floor` is the number before the first of the connection: an outbox sends its oldest unanswered message first, so
  /// everything up to there was answered. A mark below it, or none, was lost with a damaged store or with its age.
  [[nodiscard]] SequenceCheck look_up(const std::string& epoch, std::uint64_t number, std::uint64_t floor = 0) const;
  /// The number was answered (taken or refused for good); returns the mark to store.
  const records::OutboxMark& advance(const AgentName& sender, const std::string& epoch, std::uint64_t number,
                                     bool refused, WallMs now);
  /// Was a number of one of them answered since then?
  [[nodiscard]] bool used_since(WallMs when) const;
  /// A commit failed: that number and everything after it is due again.
  void roll_back(const std::string& epoch, std::uint64_t number);

 private:
  std::map<std::string, records::OutboxMark, std::less<>> marks_;
};

/// The number in `<epoch>-<n>`; empty when the id is not of that form.
std::optional<std::uint64_t> outbox_number(std::string_view id, std::string_view epoch);

}  // namespace relay::broker
