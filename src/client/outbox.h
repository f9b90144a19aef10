/// The messages that were sent and not yet answered, in order; with a file below it, even after a crash of this
/// program.
///
/// Ids: with an epoch `<epoch>-<n>`, n from 1 without gaps, so that the daemon detects every repeat with one
///   number (for a long-lived program, with or without a file). Without an epoch random ids (for a short-lived program,
///   which would otherwise leave one number behind in the daemon for each run).
/// Invariants: an entry is removed only when answered. A number is never used for two messages: nothing may be
///   transmitted before `make_durable` succeeded for it. Bounded in entries and bytes: `add` refuses when it is full.
/// Ownership: owns its entries; borrows the directory. Threading: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/directory.h"
#include "base/random.h"
#include "base/result.h"
#include "protocol/message_type.h"

namespace relay::protocol {
struct OutgoingSend;
}

namespace relay::client {

class OutboxFile;

/// payload and payload_meta are JSON objects and are sent unchanged.
struct OutgoingMessage {
  std::string to;
  std::string payload;
  std::string topic = {};
  std::string payload_meta = {};
  protocol::MessageType type = protocol::MessageType::Send;  // or ChannelMessage, which has no `to`
};

/// A SEND for the outbox; an error carries a protocol::NackCode.
Result<OutgoingMessage> encode_message(const protocol::OutgoingSend& send);

struct OutboxLimits {
  std::size_t max_entries = 10'000;
  std::size_t max_bytes = 16 << 20;
};

enum class Numbering { Epoch, RandomIds };
enum class SyncOn { EachAdd, Transmission };  // Transmission: one sync for all messages that are sent together

struct OutboxEntry {
  std::uint64_t number = 0;
  std::string id;
  OutgoingMessage message;
  bool lost = false;  // the file lost its content; its number is still sent, so that later messages may follow
};

/// The result of opening the file.
struct OutboxRecovery {
  std::size_t entries = 0;
  std::size_t torn_bytes = 0;     // at the end, by a crash during an append; never transmitted
  std::size_t damaged_bytes = 0;  // in the middle: lost
};

class Outbox {
 public:
  /// In memory.
  Outbox(Numbering numbering, OutboxLimits limits, Random& random);

  /// In the file `name` of the directory, which is created when absent.
  static Result<std::unique_ptr<Outbox>> open(Directory& directory, const std::string& name, OutboxLimits limits,
                                              SyncOn sync, Random& random);
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// Empty if ids are random.
  [[nodiscard]] const std::string& epoch() const { return epoch_; }
  [[nodiscard]] const OutboxRecovery& recovery() const { return recovery_; }

  /// Checks, numbers and stores the message. Returns its id.
  Result<std::string> add(OutgoingMessage message);

  /// Everything added so far is durable when this succeeds. Cheap when nothing is new.
  Result<void> make_durable();

  /// Removes an entry that the daemon answered. False when the id is unknown (answered before).
  bool answered(std::string_view id);

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// The first entry with a number above this one; null when there is none.
  [[nodiscard]] const OutboxEntry* after(std::uint64_t number) const;
  [[nodiscard]] const OutboxEntry* find(std::string_view id) const;
  /// The number of entries before this one.
  [[nodiscard]] std::size_t position_of(const OutboxEntry& entry) const;

 private:
  Outbox(OutboxLimits limits, Random& random);
  [[nodiscard]] std::string id_of(std::uint64_t number);
  [[nodiscard]] std::size_t live_bytes() const;

  OutboxLimits limits_;
  Random& random_;
  Numbering numbering_ = Numbering::Epoch;
  SyncOn sync_ = SyncOn::Transmission;
  std::string epoch_;
  std::uint64_t next_ = 1;
  std::size_t bytes_ = 0;
  std::deque<OutboxEntry> entries_;  // ascending numbers
  std::unique_ptr<OutboxFile> file_;
  OutboxRecovery recovery_;
};

}  // namespace relay::client
