#include "broker/testing/delivery_table.h"

#include <algorithm>

#include "base/format.h"

namespace relay::broker::testing {
namespace {

using Words = std::vector<std::string>;

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::Pty: return "PTY host";
    case Kind::Native: return "native host";
    case Kind::Callback: return "callback session";
    case Kind::Pull: return "pull session";
    case Kind::Published: return "published client";
  }
  std::unreachable();
}

std::string_view name_of(Standing standing) {
  switch (standing) {
    case Standing::Offline: return "offline";
    case Standing::Idle: return "idle";
    case Standing::Working: return "working";
    case Standing::Blocked: return "blocked";
    case Standing::Paused: return "paused";
  }
  std::unreachable();
}

std::string_view title_of(Fault fault) {
  switch (fault) {
    case Fault::None: return "Nothing goes wrong";
    case Fault::Away: return "The session goes away once it has it, and comes back";
    case Fault::Restart: return "The daemon dies and starts again";
    case Fault::FailsOnce: return "The session fails, then succeeds";
    case Fault::FailsAlways: return "The session fails eight times";
    case Fault::Fails: return "The session fails for good";
    case Fault::InDoubt: return "The session dies between writing and recording";
    case Fault::Expires: return "Its time runs out";
    case Fault::Held: return "The recipient's policy holds it";
    case Fault::Refused: return "The recipient's policy refuses it";
    case Fault::NotStored: return "The store fails as it is sent";
    case Fault::NotRecorded: return "The store fails as the session answers";
  }
  std::unreachable();
}

std::string_view remark_on(Fault fault) {
  switch (fault) {
    case Fault::None: return "";
    case Fault::Away: return "It gets the same delivery with the same number again, and goes on where it was.";
    case Fault::Restart:
      return "Once the session has it, or at once when it has to wait. Every session says HELLO again; until a "
             "callback "
             "session tells its state anew, it counts as one that never did. Receipts end with the sender's "
             "connection: afterwards `agent-relay trace` tells.";
    case Fault::FailsOnce: return "`failed` with `retryable`, or a NACK that may be tried again.";
    case Fault::FailsAlways: return "After 1 s, 2 s, 4 s, … 64 s; then it waits for a person (`agent-relay dead`).";
    case Fault::Fails: return "`failed` without `retryable`, or a NACK that is final.";
    case Fault::InDoubt:
      return "Only who writes for somebody else can be in doubt. It is not written again: a person decides "
             "(`agent-relay dead redeliver`).";
    case Fault::Expires:
      return "The session took it, if it could have it, and did nothing more. A session that has it in hand gets "
             "CANCEL.";
    case Fault::Held: return "It is stored and waits for `agent-relay flush`, whatever its mode.";
    case Fault::Refused: return "Nothing is stored.";
    case Fault::NotStored: return "The sender's outbox sends the same again after a second.";
    case Fault::NotRecorded: return "Nothing is told before it is stored; nothing is said twice.";
  }
  std::unreachable();
}

constexpr std::string_view kHead =
    R"(# What becomes of a message

Every mode, kind of session, standing and fault, as the broker goes through them in `src/broker/delivery_table_test.cc`.
The test writes this page and fails when it is not true any more; [delivery.md](delivery.md) explains the ideas.

**Sessions.** A *PTY host* types into a terminal (immediate, on-idle, manual). A *native host* uses its agent's own doors
(all modes). Both have a queue of their own: they get what they can do at once and find the moment themselves. A *callback
session* is a program on our library: the broker finds the moment. A *pull session* is asked for its mail (MCP): on-idle
and manual. A *published client* knows nothing of modes, and tells no state.

**Standing** is how the recipient is when the message is sent. Equal rows are joined.

A cell is the ledger, line by line, with what happens in between:

| sign | a line of the ledger | the receipt it is told by |
|---|---|---|
| `q` | queued: it is durable, and waits for its turn | none; the first one is the ACK |
| `a` | accepted: the session has it | accepted |
| `w` | accepted, proof written: the agent's side has the text | accepted, proof written |
| `s` | delivered, proof submitted | delivered, proof submitted |
| `v` | delivered, proof seen: the agent's own record shows it | delivered, proof seen |
| `c` | delivered, proof accepted: the session is the agent itself | delivered, proof accepted |
| `d` | deferred: it cannot go yet, and the line says why | deferred |
| `du` | deferred: the session cannot do this mode | deferred, code UNSUPPORTED |
| `h` | deferred: the policy holds it | deferred |
| `t` | deferred: tried in vain, comes again | deferred, retryable, with a time |
| `F` `E` `†` | failed, expired, dead | failed; for `E` with code EXPIRED |
| `?` | in doubt: it may have happened | in_doubt |

| sign | between the lines |
|---|---|
| `⇒` | the session is given it (DELIVER) |
| `↯` `⟲` | the session goes and comes back; the daemon starts again |
| `⊘` | the store fails; when it was sent, NACK STORAGE |
| `[back]` `[idle]` `[unpause]` | the recipient comes back, has nothing to do, is unpaused |
| `[boundary]` | the session tells of its next message, or tool call |
| `[flush]` `[later]` `[time]` | a person lets it go; the pause before the next try is over; its own time is over |
| `(…)×n` | all of that n times |
| `…` | it waits still |

A sender with `receipt_steps` hears every line but `q`, after it is stored; one with `receipts` hears only the end.
)";

/// Groups of words that follow themselves, once with their number.
std::string folded(const Words& words) {
  std::string text;
  const auto add = [&](const std::string& word) { text += (text.empty() ? "" : " ") + word; };
  for (std::size_t at = 0; at < words.size();) {
    std::size_t best_length = 0, best_times = 0;
    for (std::size_t length = 2; length <= (words.size() - at) / 2; ++length) {
      std::size_t times = 1;
      while (at + (times + 1) * length <= words.size() &&
             std::equal(&words[at], &words[at] + length, &words[at] + times * length))
        ++times;
      if (times > 2 && times * length > best_length * best_times) best_length = length, best_times = times;
    }
    if (best_times == 0) {
      add(words[at++]);
      continue;
    }
    std::string group;
    for (std::size_t n = 0; n < best_length; ++n) group += (n == 0 ? "" : " ") + words[at + n];
    add(format("({})×{}", group, best_times));
    at += best_length * best_times;
  }
  return text;
}

}  // namespace

std::string describe(const Case& situation) {
  return format("{}, {}, {}: {}", name_of(situation.kind), name_of(situation.standing),
                protocol::name_of(situation.mode), title_of(situation.fault));
}

void DeliveryPage::add(const Case& situation, const Words& trail) {
  const bool begins = situation.mode == protocol::kDeliveryModes[0];
  if (begins) rows_.push_back({situation.fault, situation.kind, {situation.standing}, {}});
  rows_.back().cells.push_back(folded(trail));
  if (rows_.back().cells.size() < std::size(protocol::kDeliveryModes)) return;
  const Row& row = rows_.back();
  const auto same = std::find_if(rows_.begin(), std::prev(rows_.end()), [&](const Row& other) {
    return other.fault == row.fault && other.kind == row.kind && other.cells == row.cells;
  });
  if (same == std::prev(rows_.end())) return;
  same->standings.push_back(situation.standing);
  rows_.pop_back();
}

std::string DeliveryPage::text() const {
  std::string page{kHead};
  for (const Fault fault : kFaults) {
    page += format("\n## {}\n\n", title_of(fault));
    if (const auto remark = remark_on(fault); !remark.empty()) page += format("{}\n\n", remark);
    page += "| session | standing |";
    for (const auto mode : protocol::kDeliveryModes) page += format(" {} |", protocol::name_of(mode));
    page += "\n|---|---|---|---|---|---|---|\n";
    for (const Row& row : rows_) {
      if (row.fault != fault) continue;
      std::string standings;
      for (const auto standing : row.standings)
        standings += format("{}{}", standings.empty() ? "" : ", ", name_of(standing));
      if (row.standings.size() == std::size(kStandings)) standings = "any";
      page += format("| {} | {} |", name_of(row.kind), standings);
      for (const auto& cell : row.cells) page += format(" `{}` |", cell);
      page += '\n';
    }
  }
  return page;
}

}  // namespace relay::broker::testing
