// The part of the desk that takes time: waiting for letters, and for the lock of the reservations.
#include <algorithm>

#include "base/format.h"
#include "mcp/relay_tools.h"
#include "text/sanitize.h"
#include "text/utf8.h"

namespace relay::mcp {
namespace {

constexpr std::int64_t kDefaultWaitSeconds = 30;
constexpr Millis kProgressEvery{5'000};
constexpr std::size_t kLookAt = 1'024;  // letters that may stand before the one waited for
constexpr std::size_t kShowAtMost = 10;

constexpr Millis kLockPause{20};
constexpr int kLockTries = 100;
constexpr std::int64_t kDefaultLeaseSeconds = 1'800;

/// As in the book, but without characters that only a model sees: other agents wrote it.
json::array listed(const std::vector<Reservation>& reservations) {
  json::array all;
  for (auto one : reservations) {
    for (auto* text : {&one.path, &one.holder, &one.note}) *text = text::sanitize_line(*text);
    all.emplace_back(to_json(one));
  }
  return all;
}

/// One line each, whoever wrote the book.
std::string spelled(const std::vector<Reservation>& reservations, WallMs now) {
  std::string text;
  for (const auto& one : reservations)
    text +=
        format("\n{}: {}, {} min left{}", text::sanitize_line(one.path), text::sanitize_line(one.holder),
               (one.until - now + 59'999) / 60'000, one.note.empty() ? "" : " (" + text::sanitize_line(one.note) + ")");
  return text;
}

}  // namespace

void RelayTools::wait(RequestId ticket, const Arguments& arguments, bool wants_progress) {
  auto& waiting = waiting_[ticket];
  waiting.from = arguments.text("from");
  waiting.thread = arguments.text("thread");
  waiting.since = loop_.now().steady;
  waiting.timeout = std::chrono::seconds{arguments.number("timeout", kDefaultWaitSeconds)};
  waiting.wants_progress = wants_progress;
  recheck(ticket);
  if (waiting_.contains(ticket)) on_progress_timer(ticket);
}

void RelayTools::on_progress_timer(RequestId ticket) {
  auto& waiting = waiting_.at(ticket);
  const auto passed = std::chrono::duration_cast<Millis>(loop_.now().steady - waiting.since);
  if (passed >= waiting.timeout) {
    if (!waiting.asking) recheck(ticket);  // its answer ends the wait
    return;
  }
  if (waiting.wants_progress && passed.count() > 0)
    server_->progress(ticket, passed.count() / 1000, waiting.timeout.count() / 1000, "waiting for a message");
  const auto left = waiting.timeout - passed;
  waiting.timer = loop_.after(waiting.wants_progress ? std::min(left, kProgressEvery) : left,
                              [this, ticket] { on_progress_timer(ticket); });
}

void RelayTools::recheck(RequestId ticket) {
  auto& waiting = waiting_.at(ticket);
  if (waiting.asking) {
    waiting.asked_for = true;
    return;
  }
  const auto wanted = [from = waiting.from, thread = waiting.thread](const InboxMessage& letter) {
    return (from.empty() || letter.from == from) && (thread.empty() || letter.thread == thread || letter.id == thread);
  };
  waiting.asking = true;
  waiting.asked_for = false;
  post_.inbox({.take = false, .limit = kLookAt}, [this, ticket, wanted,
                                                  alive = lifetime_.watch()](Result<InboxPage> mail) {
    if (!alive) return;
    const auto at = waiting_.find(ticket);
    if (at == waiting_.end()) return;  // cancelled
    if (!mail) return finish(ticket, failed(mail.error().message()));
    const auto looked_at = mail->letters.size();
    leave_out_taken(*mail);
    InboxPage found;
    bool wakes = false;
    for (const auto& letter : mail->letters) {
      if (letter.held() || !wanted(letter)) continue;
      wakes = wakes || letter.wakes();
      // The last place is kept for one that ends the wait: quiet ones come along, they never stand in its way.
      if (found.letters.size() < (wakes ? kShowAtMost : kShowAtMost - 1)) found.letters.push_back(letter);
    }
    found.more = mail->more || mail->letters.size() > found.letters.size();
    if (wakes && !mail->paused) return return_messages(ticket, found, {});
    const bool choosy = !at->second.from.empty() || !at->second.thread.empty();
    const bool stand_before = choosy ? looked_at > 0 : !mail->letters.empty();
    if (mail->more && stand_before && !mail->paused)
      return finish(ticket, failed(format("{} unread messages stand before it, and no more can be seen; read them with "
                                          "relay_inbox, then wait again",
                                          looked_at)));
    at->second.asking = false;
    if (at->second.asked_for) return recheck(ticket);
    if (loop_.now().steady - at->second.since >= at->second.timeout)
      return return_messages(ticket, {}, "no message came in that time");
  });
}

void RelayTools::recheck_all() {
  std::vector<RequestId> tickets;
  for (const auto& [ticket, waiting] : waiting_) tickets.push_back(ticket);
  for (const auto ticket : tickets)
    if (waiting_.contains(ticket)) recheck(ticket);
}

void RelayTools::on_message_available() {
  recheck_all();
  server_->resource_changed(kInboxUri);
}

void RelayTools::on_mail_unknown(const std::string& why) {
  std::vector<RequestId> tickets;
  for (const auto& [ticket, waiting] : waiting_) tickets.push_back(ticket);
  for (const auto ticket : tickets) finish(ticket, failed(why));
}

void RelayTools::end_waits() {
  std::vector<RequestId> tickets;
  for (const auto& [ticket, waiting] : waiting_) tickets.push_back(ticket);
  for (const auto ticket : tickets) return_messages(ticket, {}, "the wait was ended");
}

void RelayTools::reserve(RequestId ticket, const Arguments& arguments) {
  change_reservations(ticket, arguments, kLockTries);
}

void RelayTools::change_reservations(RequestId ticket, const Arguments& arguments, int tries_left) {
  const auto done = reserved(arguments);
  if (done) return finish(ticket, *done);
  if (!is(done.error(), LockErrc::Held) || tries_left == 0) return finish(ticket, failed(done.error().message()));
  retries_[ticket] = loop_.after(
      kLockPause, [this, ticket, arguments, tries_left] { change_reservations(ticket, arguments, tries_left - 1); });
}

Result<ToolResult> RelayTools::reserved(const Arguments& arguments) {
  const auto now = loop_.now().wall;
  const auto action = arguments.text("action");
  const auto holder = post_.standing().name;
  std::vector<std::string> paths;
  for (const auto& given : arguments.list("paths"))
    paths.push_back(RELAY_TRY(path_in_project(options_.project_root, given)));
  json::object shown;
  if (action == "list") {
    const auto book = RELAY_TRY(load_reservations(shared_, now));
    shown["reservations"] = listed(book.all());
    return ToolResult{.text = book.all().empty() ? "nothing is reserved" : "reserved:" + spelled(book.all(), now),
                      .structured = std::move(shown)};
  }
  const auto lock = RELAY_TRY(lock_reservations(shared_));
  auto book = RELAY_TRY(load_reservations(shared_, now));
  if (action == "release") {
    const auto released = book.release(holder, paths);
    RELAY_TRY(save_reservations(shared_, book));
    shown["released"] = listed(released);
    return ToolResult{.text = released.empty() ? "nothing of yours was reserved there" : "released",
                      .structured = std::move(shown)};
  }
  if (paths.empty()) return fail("relay_reserve needs `paths`: the files or directories you work on");
  if (text::has_control_characters(arguments.text("note")))
    return fail("`note` must be one line, without control characters");
  const auto until = now + arguments.number("ttl", kDefaultLeaseSeconds) * 1'000;
  const auto outcome = RELAY_TRY(book.reserve(holder, paths, arguments.text("note"), until));
  if (!outcome.granted.empty()) RELAY_TRY(save_reservations(shared_, book));
  shown["granted"] = listed(outcome.granted);
  shown["conflicts"] = listed(outcome.conflicts);
  auto text = outcome.granted.empty() ? std::string{} : "reserved:" + spelled(outcome.granted, now);
  if (!outcome.conflicts.empty())
    text += format("{}others are working there; talk to them first:{}", text.empty() ? "" : "\n",
                   spelled(outcome.conflicts, now));
  return ToolResult{.text = std::move(text), .structured = std::move(shown)};
}

}  // namespace relay::mcp
