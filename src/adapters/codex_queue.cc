#include "adapters/codex_queue.h"

#include <algorithm>

#include "base/format.h"
#include "base/json.h"

namespace relay::adapters {
namespace {

constexpr std::int64_t kGreeting = 0;

std::string session_context() {
  return json::serialize(json::object{
      {"id", kGreeting},
      {"method", "initialize"},
      {"params",
       {{"clientInfo", {{"name", "agent-relay"}, {"version", "1"}}}, {"capabilities", {{"experimentalApi", true}}}}}});
}

}  // namespace

CodexQueue::CodexQueue(net::AsioLoop& loop, pty::Command command, OnWithdrawn on_withdrawn, CodexTimeouts pace)
    : loop_{loop}, command_{std::move(command)}, on_withdrawn_{std::move(on_withdrawn)}, pace_{pace} {
  command_.argv = {command_.argv.front(), "app-server"};
}

void CodexQueue::put(const NativeDelivery& words, const std::string& thread, Adapter::OnAccepted done) {
  const auto number = ++last_number_;
  submissions_.push_back({.number = number, .thread = thread, .delivery = words.delivery, .text = words.text});
  if (paused_ || withdrawing_) {
    submissions_.back().place = Place::Unwritten;
    return withdraw();
  }
  call("queue it", "thread/queue/add",
       {{"threadId", thread},
        {"clientUserMessageId", words.delivery},
        {"input", json::array{{{"type", "text"}, {"text", words.text}}}}},
       [this, number, done = std::move(done)](Result<json::object> result) mutable {
         if (result)
           on_put_response(number, *result);
         else
           erase(number);
         done(result ? Result<void>{} : Failure{result.error()});
         if (paused_) withdraw();
       });
}

void CodexQueue::on_put_response(std::uint64_t number, const json::object& result) {
  auto* submission = find(number);
  if (submission == nullptr) return;  // its model has it already
  const auto* queued = object_member(result, "queuedSubmission");
  submission->id = queued == nullptr ? "" : string_member(*queued, "id").value_or("");
  submission->place = Place::Queued;
  if (submission->id.empty()) return erase(number);  // it cannot be withdrawn
  if (submissions_.size() > kMaxQueued && submissions_.front().place == Place::Queued) submissions_.pop_front();
}

void CodexQueue::pause() {
  paused_ = true;
  withdraw();
}

void CodexQueue::resume() {
  paused_ = false;
  retries_ = 0;
  retry_timer_.reset();
}

void CodexQueue::withdraw() {
  retry_timer_.reset();
  withdrawing_ = true;
  std::vector<Submission> deleting;
  for (auto& submission : submissions_) {
    if (submission.place != Place::Queued) continue;
    submission.place = Place::Deleting;
    deleting.push_back(submission);
  }
  for (const auto& each : deleting)
    call("take it back", "thread/queue/delete", {{"threadId", each.thread}, {"queuedSubmissionId", each.id}},
         [this, number = each.number](const Result<json::object>& result) { on_delete_response(number, result); });
  finish_withdrawal();
}

void CodexQueue::on_delete_response(std::uint64_t number, const Result<json::object>& result) {
  const auto deleted = result ? bool_member(*result, "deleted") : std::nullopt;
  if (auto* submission = find(number); submission != nullptr) {
    if (!deleted) delete_failed_ = true;
    submission->place = !deleted ? Place::Queued : Place::Deleted;
    if (deleted == false) erase(number);  // Codex took it, or an earlier delete was not answered
  }
  finish_withdrawal();
}

void CodexQueue::finish_withdrawal() {
  const auto is_open = [](const Submission& each) {
    return each.place == Place::Writing || each.place == Place::Deleting;
  };
  if (!withdrawing_ || std::ranges::any_of(submissions_, is_open)) return;
  withdrawing_ = false;
  if (std::exchange(delete_failed_, false) && paused_ && ++retries_ <= kMaxRetries)
    retry_timer_ = loop_.after(pace_.retry, [this] { withdraw(); });
  std::vector<std::string> deliveries;
  std::erase_if(submissions_, [&](Submission& each) {
    if (each.place == Place::Queued) return false;
    deliveries.push_back(std::move(each.delivery));
    return true;
  });
  on_withdrawn_(deliveries);
}

/// Its text stands there once, also where another message says the same.
void CodexQueue::on_model_input(std::string_view text) {
  const auto given =
      std::ranges::find_if(submissions_, [&](const Submission& each) { return text.contains(each.text); });
  if (given == submissions_.end() || given->place == Place::Unwritten) return;
  submissions_.erase(given);
  finish_withdrawal();
}

CodexQueue::Submission* CodexQueue::find(std::uint64_t number) {
  const auto found = std::ranges::find(submissions_, number, &Submission::number);
  return found == submissions_.end() ? nullptr : &*found;
}

void CodexQueue::erase(std::uint64_t number) {
  std::erase_if(submissions_, [&](const Submission& each) { return each.number == number; });
}

void CodexQueue::call(std::string_view action, std::string_view method, json::object params, OnResponse done) {
  if (!helper_) {
    ready_ = false;
    auto helper = pty::LineProcess::start(loop_, command_, *this);
    if (!helper) return done(Failure{helper.error()});
    helper_ = *std::move(helper);
    helper_->write_line(session_context());
    if (!helper_) return done(fail("codex app-server: it ended at once"));  // found gone in the middle of our greeting
  }
  const auto id = ++last_id_;
  requests_.push_back(
      {.id = id,
       .action = action,
       .line = json::serialize(json::object{{"id", id}, {"method", method}, {"params", std::move(params)}}),
       .done = std::move(done),
       .until = loop_.now().steady + pace_.timeout});
  if (ready_) write_waiting();
  set_timer();
}

void CodexQueue::write_waiting() {
  // A write may find out that it is gone; a request that fails by that may have started another one.
  for (std::size_t i = 0; i < requests_.size() && helper_ && ready_; ++i)
    if (!std::exchange(requests_[i].written, true)) helper_->write_line(requests_[i].line);
}

void CodexQueue::on_line(std::string_view line) {
  const auto answer = parse_json_object(line);
  if (!answer) return;  // not for us: what it logs, or a future shape
  const auto id = integer_member(*answer, "id");
  if (!id || answer->contains("method")) return;
  const auto* error = object_member(*answer, "error");
  const auto why = error != nullptr ? string_member(*error, "message").value_or("it gave no reason") : "";
  if (*id == kGreeting && !ready_) {
    if (error != nullptr) return give_up("Codex did not take our greeting: " + why);
    ready_ = true;
    helper_->write_line(R"({"method":"initialized"})");  // after a failure of it there is nothing left to write
    return write_waiting();
  }
  const auto found = std::ranges::find(requests_, *id, &Request::id);
  if (found == requests_.end()) return;
  auto request = std::move(*found);
  requests_.erase(found);
  set_timer();
  if (error != nullptr) return request.done(fail(format("Codex did not {}: {}", request.action, why)));
  const auto* result = object_member(*answer, "result");
  request.done(result == nullptr ? json::object{} : *result);
}

void CodexQueue::on_ended(const std::string& reason) { give_up(format("codex app-server: {}", reason)); }

void CodexQueue::give_up(const std::string& reason) {
  helper_.reset();
  ready_ = false;
  timer_.reset();
  for (auto& request : std::exchange(requests_, {}))
    request.done(request.written ? Result<json::object>{json::object{}} : Result<json::object>{fail(reason)});
}

void CodexQueue::set_timer() {
  if (requests_.empty()) {
    timer_ = loop_.at(loop_.now().steady + pace_.keep_alive, [this] { helper_.reset(); });
    return;
  }
  timer_ = loop_.at(requests_.front().until, [this] { give_up("codex app-server did not answer in time"); });
}

}  // namespace relay::adapters
