// The tools that take time: waiting for messages, and for the lock of the reservations.
#include <algorithm>

#include "base/format.h"
#include "mcp/relay_tools.h"
#include "text/sanitize.h"
#include "text/utf8.h"

namespace relay::mcp {
namespace {

constexpr std::int64_t kDefaultWaitSeconds = 30;
constexpr Millis kProgressEvery{5'000};
constexpr std::size_t kMaxSearched = 1'024;  // messages searched for a match
constexpr std::size_t kShowAtMost = 10;

constexpr Millis kLockPause{20};
constexpr int kLockTries = 100;
constexpr std::int64_t kDefaultLeaseSeconds = 1'800;

/// Without invisible characters: the texts are untrusted.
json::array reservations_json(const std::vector<Reservation>& reservations) {
  json::array all;
  for (auto one : reservations) {
    for (auto* text : {&one.path, &one.holder, &one.note}) *text = text::sanitize_line(*text);
    all.emplace_back(to_json(one));
  }
  return all;
}

/// One line for each reservation.
std::string reservation_lines(const std::vector<Reservation>& reservations, WallMs now) {
  std::string text;
  for (const auto& one : reservations)
    text +=
        format("\n{}: {}, {} min left{}", text::sanitize_line(one.path), text::sanitize_line(one.holder),
               (one.until - now + 59'999) / 60'000, one.note.empty() ? "" : " (" + text::sanitize_line(one.note) + ")");
  return text;
}

}  // namespace

void RelayTools::wait(RequestId request_id, const Arguments& arguments, bool wants_progress) {
  auto& waiting = waiting_[request_id];
  waiting.from = arguments.text("from");
  waiting.thread = arguments.text("thread");
  waiting.since = loop_.now().steady;
  waiting.timeout = std::chrono::seconds{arguments.number("timeout", kDefaultWaitSeconds)};
  waiting.wants_progress = wants_progress;
  recheck(request_id);
  if (waiting_.contains(request_id)) on_progress_timer(request_id);
}

void RelayTools::on_progress_timer(RequestId request_id) {
  auto& waiting = waiting_.at(request_id);
  const auto passed = std::chrono::duration_cast<Millis>(loop_.now().steady - waiting.since);
  if (passed >= waiting.timeout) {
    if (!waiting.checking) recheck(request_id);  // its result ends the wait
    return;
  }
  if (waiting.wants_progress && passed.count() > 0)
    server_->progress(request_id, passed.count() / 1000, waiting.timeout.count() / 1000, "waiting for a message");
  const auto left = waiting.timeout - passed;
  waiting.timer = loop_.after(waiting.wants_progress ? std::min(left, kProgressEvery) : left,
                              [this, request_id] { on_progress_timer(request_id); });
}

void RelayTools::recheck(RequestId request_id) {
  auto& waiting = waiting_.at(request_id);
  if (waiting.checking) {
    waiting.recheck_after = true;
    return;
  }
  const auto matches = [from = waiting.from, thread = waiting.thread](const InboxMessage& message) {
    return (from.empty() || message.from == from) &&
           (thread.empty() || message.thread == thread || message.id == thread);
  };
  waiting.checking = true;
  waiting.recheck_after = false;
  client_.inbox({.take = false, .limit = kMaxSearched}, [this, request_id, matches,
                                                         alive = lifetime_.watch()](Result<InboxPage> page) {
    if (!alive) return;
    const auto at = waiting_.find(request_id);
    if (at == waiting_.end()) return;  // cancelled
    if (!page) return finish(request_id, failed(page.error().message()));
    const auto searched = page->messages.size();
    leave_out_taken(*page);
    InboxPage found;
    bool wakes = false;
    for (const auto& message : page->messages) {
      if (message.held() || !matches(message)) continue;
      wakes = wakes || message.wakes();
      // Silent messages leave room for one that ends the wait.
      if (found.messages.size() < (wakes ? kShowAtMost : kShowAtMost - 1)) found.messages.push_back(message);
    }
    found.more = page->more || page->messages.size() > found.messages.size();
    if (wakes && !page->paused) return return_messages(request_id, found, {});
    const bool filtered = !at->second.from.empty() || !at->second.thread.empty();
    const bool others_before = filtered ? searched > 0 : !page->messages.empty();
    if (page->more && others_before && !page->paused)
      return finish(request_id,
                    failed(format("{} pending messages come before it, and later ones are not visible; read them with "
                                  "relay_inbox, then wait again",
                                  searched)));
    at->second.checking = false;
    if (at->second.recheck_after) return recheck(request_id);
    if (loop_.now().steady - at->second.since >= at->second.timeout)
      return return_messages(request_id, {}, "no message arrived before the timeout");
  });
}

void RelayTools::recheck_all() {
  std::vector<RequestId> request_ids;
  for (const auto& [request_id, waiting] : waiting_) request_ids.push_back(request_id);
  for (const auto request_id : request_ids)
    if (waiting_.contains(request_id)) recheck(request_id);
}

void RelayTools::on_message_available() {
  recheck_all();
  server_->resource_changed(kInboxUri);
}

void RelayTools::on_inbox_unavailable(const std::string& why) {
  std::vector<RequestId> request_ids;
  for (const auto& [request_id, waiting] : waiting_) request_ids.push_back(request_id);
  for (const auto request_id : request_ids) finish(request_id, failed(why));
}

void RelayTools::end_waits() {
  std::vector<RequestId> request_ids;
  for (const auto& [request_id, waiting] : waiting_) request_ids.push_back(request_id);
  for (const auto request_id : request_ids) return_messages(request_id, {}, "the wait was ended");
}

void RelayTools::reserve(RequestId request_id, const Arguments& arguments) {
  change_reservations(request_id, arguments, kLockTries);
}

void RelayTools::change_reservations(RequestId request_id, const Arguments& arguments, int tries_left) {
  const auto done = reserved(arguments);
  if (done) return finish(request_id, *done);
  if (!is(done.error(), LockErrc::Held) || tries_left == 0) return finish(request_id, failed(done.error().message()));
  retries_[request_id] = loop_.after(kLockPause, [this, request_id, arguments, tries_left] {
    change_reservations(request_id, arguments, tries_left - 1);
  });
}

Result<ToolResult> RelayTools::reserved(const Arguments& arguments) {
  const auto now = loop_.now().wall;
  const auto action = arguments.text("action");
  const auto holder = client_.status().name;
  std::vector<std::string> paths;
  for (const auto& given : arguments.list("paths"))
    paths.push_back(RELAY_TRY(path_in_project(options_.project_root, given)));
  json::object structured;
  if (action == "list") {
    const auto table = RELAY_TRY(load_reservations(shared_, now));
    structured["reservations"] = reservations_json(table.all());
    return ToolResult{
        .text = table.all().empty() ? "nothing is reserved" : "reserved:" + reservation_lines(table.all(), now),
        .structured = std::move(structured)};
  }
  const auto lock = RELAY_TRY(lock_reservations(shared_));
  auto table = RELAY_TRY(load_reservations(shared_, now));
  if (action == "release") {
    const auto released = table.release(holder, paths);
    RELAY_TRY(save_reservations(shared_, table));
    structured["released"] = reservations_json(released);
    return ToolResult{.text = released.empty() ? "you had no reservation there" : "released",
                      .structured = std::move(structured)};
  }
  if (paths.empty()) return fail("relay_reserve needs `paths`: the files or directories you work on");
  if (text::has_control_characters(arguments.text("note")))
    return fail("`note` must be one line, without control characters");
  const auto until = now + arguments.number("ttl", kDefaultLeaseSeconds) * 1'000;
  const auto outcome = RELAY_TRY(table.reserve(holder, paths, arguments.text("note"), until));
  if (!outcome.granted.empty()) RELAY_TRY(save_reservations(shared_, table));
  structured["granted"] = reservations_json(outcome.granted);
  structured["conflicts"] = reservations_json(outcome.conflicts);
  auto text = outcome.granted.empty() ? std::string{} : "reserved:" + reservation_lines(outcome.granted, now);
  if (!outcome.conflicts.empty())
    text += format("{}other agents work there; coordinate with them first:{}", text.empty() ? "" : "\n",
                   reservation_lines(outcome.conflicts, now));
  return ToolResult{.text = std::move(text), .structured = std::move(structured)};
}

}  // namespace relay::mcp
