/// What waits for a commit, and what becomes of each kind when that fails.
///
/// A SEND is refused and comes again from its sender; what the broker makes itself (its own messages, lines of the
/// ledger, records of agents) nobody would ask for again, so it is kept and tried again in its old order.
/// Threading: the broker's.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "broker/effects.h"
#include "protocol/send.h"
#include "records/changes.h"

namespace relay::broker {

enum class CommitResult : std::uint8_t { Done, Failed };

/// Deliveries are sent only while it works: their acknowledgements could not be kept otherwise.
enum class StoreHealth : std::uint8_t {
  Healthy,
  Failing,  // a commit failed: nothing is asked of it for a while, what wants saving fails at once
  Probing,  // asked again; the first commit to end will tell
};

/// A SEND that waits for its commit.
struct PendingSend {
  ConnectionId connection;  // who wants the answer; may be gone by then
  std::string id;
  AgentName from;
  std::string epoch;  // of the outbox it came from, or empty
  std::uint64_t number = 0;
  std::size_t bytes = 0;
  bool answer = false;
  bool receipts = false;
  bool steps = false;  // a receipt for every change
  bool own = false;    // made by the broker itself: nobody would send it again, so it is tried again
  std::shared_ptr<const records::Message> message;
  std::vector<records::Delivery> deliveries;
  struct Refused {
    records::Delivery delivery;
    std::string reason;
    protocol::NackCode code{};
  };
  std::vector<Refused> refused = {};  // by recipients among others
};

/// Whom a line of the ledger concerns.
struct ReceiptContext {
  std::shared_ptr<const records::Message> message;
  AgentName to;
  std::optional<protocol::NackCode> code = {};  // when there is one for what happened
};

/// A change nobody waits for; tried again when its commit fails.
struct PendingSave {
  records::Change change;
  std::optional<ReceiptContext> news = {};  // of a ChangeDelivery: told once it is saved
  ConnectionId speaker = {};                // who is charged for it until then
  std::size_t charged = 0;                  // bytes
};

/// Anything else that waits for its commit.
enum class RetryMode : std::uint8_t { One, UntilSaved };
struct PendingCall {
  std::move_only_function<void(CommitResult)> done;
  RetryMode tries = RetryMode::One;
  records::CommitMode haste = records::CommitMode::Immediate;
};

using PendingWork = std::variant<PendingSend, PendingSave, PendingCall>;
struct Pending {
  records::CommitTicket ticket;
  PendingWork what;
};

}  // namespace relay::broker
