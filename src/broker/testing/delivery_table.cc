#include "broker/testing/delivery_table.h"

#include <algorithm>

#include "base/format.h"

namespace relay::broker::testing {
namespace {

std::string_view name_of(SessionType type) {
  switch (type) {
    case SessionType::Pty: return "PTY host";
    case SessionType::Native: return "native host";
    case SessionType::Callback: return "callback session";
    case SessionType::Pull: return "pull session";
    case SessionType::Published: return "published client";
  }
  std::unreachable();
}

std::string_view name_of(RecipientState state) {
  switch (state) {
    case RecipientState::Offline: return "offline";
    case RecipientState::Idle: return "idle";
    case RecipientState::Working: return "working";
    case RecipientState::Blocked: return "blocked";
    case RecipientState::Paused: return "paused";
  }
  std::unreachable();
}

std::string_view title_of(Fault fault) {
  switch (fault) {
    case Fault::None: return "No fault";
    case Fault::Disconnect: return "The session disconnects after DELIVER and reconnects";
    case Fault::Restart: return "The daemon dies and starts again";
    case Fault::FailsOnce: return "The session fails, then succeeds";
    case Fault::FailsAlways: return "The session fails eight times";
    case Fault::Fails: return "The session reports a final failure";
    case Fault::InDoubt: return "The session dies between writing and recording";
    case Fault::Expires: return "The message expires";
    case Fault::Held: return "The recipient's policy holds the message";
    case Fault::Refused: return "The recipient's policy refuses the message";
    case Fault::NotStored: return "The commit of the message fails";
    case Fault::NotRecorded: return "The commit of the first receipt fails";
  }
  std::unreachable();
}

std::string_view note_on(Fault fault) {
  switch (fault) {
    case Fault::None: return "";
    case Fault::Disconnect: return "It receives the same delivery with the same number again and continues.";
    case Fault::Restart:
      return "After DELIVER, or at once if the delivery is pending. Every session says HELLO again; until a callback "
             "session reports its state again, it counts as one that never did. Receipts end with the connection of "
             "the "
             "sender; `agent-relay trace` shows later states.";
    case Fault::FailsOnce: return "`failed` with `retryable`, or a NACK that permits a retry.";
    case Fault::FailsAlways:
      return "Retried after 1 s, 2 s, 4 s, … 64 s; then the delivery is dead until the user redelivers it "
             "(`agent-relay dead`).";
    case Fault::Fails: return "`failed` without `retryable`, or a NACK that permits no retry.";
    case Fault::InDoubt:
      return "Only a session with a queue of its own can be in doubt. The message is not written again: the user "
             "decides "
             "(`agent-relay dead redeliver`).";
    case Fault::Expires:
      return "The session accepted the delivery, if it received it, and did no more. A session with the unsettled "
             "delivery receives CANCEL.";
    case Fault::Held: return "It is stored and held until `agent-relay flush`, in any mode.";
    case Fault::Refused: return "Nothing is stored.";
    case Fault::NotStored: return "The sender's outbox resends the message after a second.";
    case Fault::NotRecorded: return "No receipt is sent before its commit, and none twice.";
  }
  std::unreachable();
}

constexpr std::string_view kHead =
    R"(# Delivery table

What happens to a message in every mode, type of session, state of the recipient and fault, as
`src/broker/delivery_table_test.cc` runs them. The test writes this page and fails when it is out of date;
[delivery.md](delivery.md) explains the terms.

**Sessions.** A *PTY host* types into a terminal (immediate, on-idle, manual). A *native host* uses the native interfaces of
its agent (all modes). Both have a queue of their own: they receive every delivery in a supported mode at once and choose the
moment themselves. A *callback session* is a program that uses our library: the broker chooses the moment. A *pull session*
(MCP) fetches its messages. A *published client* supports no modes and reports no state.

**State** is the state of the recipient when the message is sent. Equal rows are joined.

A cell lists the entries of the history, with the events between them:

| sign | entry of the history | receipt |
|---|---|---|
| `q` | queued: stored and pending | none; the first one is the ACK |
| `a` | accepted: the session has it | accepted |
| `w` | accepted, proof written: the agent's side has the text | accepted, proof written |
| `s` | delivered, proof submitted | delivered, proof submitted |
| `v` | delivered, proof seen: it is in the agent's transcript | delivered, proof seen |
| `c` | delivered, proof accepted: the session is the agent itself | delivered, proof accepted |
| `d` | deferred, with a reason | deferred |
| `du` | deferred: the session does not support the mode | deferred, code UNSUPPORTED |
| `h` | deferred: held by the policy | deferred |
| `t` | deferred: the try failed and is repeated | deferred, retryable, with a time |
| `F` `E` `†` | failed, expired, dead | failed; for `E` with code EXPIRED |
| `?` | in doubt: it may have arrived | in_doubt |

| sign | event between the entries |
|---|---|
| `⇒` | DELIVER to the session |
| `↯` `⟲` | the session disconnects and reconnects; the daemon starts again |
| `⊘` | a commit fails; for a SEND, NACK STORAGE |
| `[back]` `[idle]` `[unpause]` | the recipient reconnects, becomes idle, is unpaused |
| `[boundary]` | the session reports its next message or tool call |
| `[flush]` `[later]` `[time]` | the user flushes it; the pause before the next try ends; it expires |
| `(…)×n` | all of this n times |
| `…` | it stays pending |

A sender with `receipt_steps` receives a receipt for every entry but `q`, after its commit; one with `receipts` only the last.
)";

/// Joins the signs; a repeated group is written once, with its count.
std::string fold_repeats(const Strings& signs) {
  std::string text;
  const auto add = [&](const std::string& sign) { text += (text.empty() ? "" : " ") + sign; };
  for (std::size_t at = 0; at < signs.size();) {
    std::size_t best_length = 0, best_times = 0;
    for (std::size_t length = 2; length <= (signs.size() - at) / 2; ++length) {
      std::size_t times = 1;
      while (at + (times + 1) * length <= signs.size() &&
             std::equal(&signs[at], &signs[at] + length, &signs[at] + times * length))
        ++times;
      if (times > 2 && times * length > best_length * best_times) best_length = length, best_times = times;
    }
    if (best_times == 0) {
      add(signs[at++]);
      continue;
    }
    std::string group;
    for (std::size_t n = 0; n < best_length; ++n) group += (n == 0 ? "" : " ") + signs[at + n];
    add(format("({})×{}", group, best_times));
    at += best_length * best_times;
  }
  return text;
}

}  // namespace

std::string describe(const DeliveryCase& situation) {
  return format("{}, {}, {}: {}", name_of(situation.session), name_of(situation.state),
                protocol::name_of(situation.mode), title_of(situation.fault));
}

void DeliveryTable::add(const DeliveryCase& situation, const Strings& trail) {
  const bool first = situation.mode == protocol::kDeliveryModes[0];
  if (first) rows_.push_back({situation.fault, situation.session, {situation.state}, {}});
  rows_.back().cells.push_back(fold_repeats(trail));
  if (rows_.back().cells.size() < std::size(protocol::kDeliveryModes)) return;
  const Row& row = rows_.back();
  const auto same = std::find_if(rows_.begin(), std::prev(rows_.end()), [&](const Row& other) {
    return other.fault == row.fault && other.session == row.session && other.cells == row.cells;
  });
  if (same == std::prev(rows_.end())) return;
  same->states.push_back(situation.state);
  rows_.pop_back();
}

std::string DeliveryTable::markdown() const {
  std::string page{kHead};
  for (const Fault fault : kFaults) {
    page += format("\n## {}\n\n", title_of(fault));
    if (const auto note = note_on(fault); !note.empty()) page += format("{}\n\n", note);
    page += "| session | state |";
    for (const auto mode : protocol::kDeliveryModes) page += format(" {} |", protocol::name_of(mode));
    page += "\n|---|---|---|---|---|---|---|\n";
    for (const Row& row : rows_) {
      if (row.fault != fault) continue;
      std::string states;
      for (const auto state : row.states) states += format("{}{}", states.empty() ? "" : ", ", name_of(state));
      if (row.states.size() == std::size(kRecipientStates)) states = "any";
      page += format("| {} | {} |", name_of(row.session), states);
      for (const auto& cell : row.cells) page += format(" `{}` |", cell);
      page += '\n';
    }
  }
  return page;
}

}  // namespace relay::broker::testing
