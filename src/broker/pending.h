/// Work that depends on a commit, and the effect of a failed commit on each kind.
///
/// When a commit fails, the sender of a SEND gets a NACK and sends it again. The broker's own changes (its messages,
/// history entries, records of agents) have no such sender, so the broker retries them in their old order.
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

/// Deliveries are sent only while the store is healthy, because their receipts must be stored.
enum class StoreHealth : std::uint8_t {
  Healthy,
  Failing,  // a commit failed: for a while the broker sends it no commits, and new changes fail at once
  Probing,  // a commit was sent again; the first result decides
};

/// A SEND that is being committed.
struct PendingSend {
  ConnectionId connection;  // of the sender; may be closed by then
  std::string id;
  AgentName from;
  std::string epoch;  // of the outbox it came from, or empty
  std::uint64_t number = 0;
  std::size_t bytes = 0;
  bool answer = false;
  bool receipts = false;
  bool steps = false;  // a receipt for every change
  bool own = false;    // the broker's own message, which is retried
  std::shared_ptr<const records::Message> message;
  std::vector<records::Delivery> deliveries;
  struct Refused {
    records::Delivery delivery;
    std::string reason;
    protocol::NackCode code{};
  };
  std::vector<Refused> refused = {};  // recipients that cannot take it, if there are others
};

/// The message and the recipient of a history entry.
struct ReceiptContext {
  std::shared_ptr<const records::Message> message;
  AgentName to;
  std::optional<protocol::NackCode> code = {};  // if one fits
};

/// A change that is retried when its commit fails.
struct PendingSave {
  records::Change change;
  std::optional<ReceiptContext> receipt = {};  // of a ChangeDelivery: reported once it is stored
  ConnectionId charged_to = {};                // the connection whose uncommitted bytes include it until it is stored
  std::size_t charged = 0;                     // bytes
};

/// A call after a commit.
enum class RetryMode : std::uint8_t { Once, UntilSaved };
struct PendingCall {
  std::move_only_function<void(CommitResult)> done;
  RetryMode retry = RetryMode::Once;
  records::CommitMode mode = records::CommitMode::Immediate;
};

using PendingWork = std::variant<PendingSend, PendingSave, PendingCall>;
struct Pending {
  records::CommitTicket ticket;
  PendingWork what;
};

}  // namespace relay::broker
