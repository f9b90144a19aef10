#include "adapters/codex_queue.h"

#include <algorithm>

#include "base/format.h"
#include "base/json.h"

namespace relay::adapters {
namespace {

constexpr std::int64_t kHandshakeId = 0;

std::string handshake_request() {
  return json::serialize(json::object{
      {"id", kHandshakeId},
      {"method", "initialize"},
      {"params",
       {{"clientInfo", {{"name", "agent-relay"}, {"version", "1"}}}, {"capabilities", {{"experimentalApi", true}}}}}});
}

}  // namespace

CodexQueue::CodexQueue(net::AsioLoop& loop, pty::Command command, OnWithdrawn on_withdrawn, CodexTimeouts timeouts)
    : loop_{loop}, command_{std::move(command)}, on_withdrawn_{std::move(on_withdrawn)}, timeouts_{timeouts} {
  command_.argv = {command_.argv.front(), "app-server"};
}

void CodexQueue::put(const NativeDelivery& delivery, const std::string& thread, Adapter::OnAccepted done) {
  const auto number = ++last_number_;
  submissions_.push_back({.number = number, .thread = thread, .delivery = delivery.key, .text = delivery.text});
  if (paused_ || withdrawing_) {
    submissions_.back().state = State::Unwritten;
    return withdraw();
  }
  call("queue it", "thread/queue/add",
       {{"threadId", thread},
        {"clientUserMessageId", delivery.key},
        {"input", json::array{{{"type", "text"}, {"text", delivery.text}}}}},
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
  if (submission == nullptr) return;  // the model has it already
  const auto* queued = object_member(result, "queuedSubmission");
  submission->id = queued == nullptr ? "" : string_member(*queued, "id").value_or("");
  submission->state = State::Queued;
  if (submission->id.empty()) return erase(number);  // it cannot be withdrawn
  if (submissions_.size() > kMaxQueued && submissions_.front().state == State::Queued) submissions_.pop_front();
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
    if (submission.state != State::Queued) continue;
    submission.state = State::Deleting;
    deleting.push_back(submission);
  }
  for (const auto& each : deleting)
    call("delete it from its queue", "thread/queue/delete",
         {{"threadId", each.thread}, {"queuedSubmissionId", each.id}},
         [this, number = each.number](const Result<json::object>& result) { on_delete_response(number, result); });
  finish_withdrawal();
}

void CodexQueue::on_delete_response(std::uint64_t number, const Result<json::object>& result) {
  const auto deleted = result ? bool_member(*result, "deleted") : std::nullopt;
  if (auto* submission = find(number); submission != nullptr) {
    if (!deleted) delete_failed_ = true;
    submission->state = !deleted ? State::Queued : State::Deleted;
    if (deleted == false) erase(number);  // Codex has read it, or an earlier delete worked
  }
  finish_withdrawal();
}

void CodexQueue::finish_withdrawal() {
  const auto is_open = [](const Submission& each) {
    return each.state == State::Writing || each.state == State::Deleting;
  };
  if (!withdrawing_ || std::ranges::any_of(submissions_, is_open)) return;
  withdrawing_ = false;
  if (std::exchange(delete_failed_, false) && paused_ && ++retries_ <= kMaxRetries)
    retry_timer_ = loop_.after(timeouts_.retry, [this] { withdraw(); });
  std::vector<std::string> deliveries;
  std::erase_if(submissions_, [&](Submission& each) {
    if (each.state == State::Queued) return false;
    deliveries.push_back(std::move(each.delivery));
    return true;
  });
  on_withdrawn_(deliveries);
}

/// One input settles one submission, also when another has the same text.
void CodexQueue::on_model_input(std::string_view text) {
  const auto found =
      std::ranges::find_if(submissions_, [&](const Submission& each) { return text.contains(each.text); });
  if (found == submissions_.end() || found->state == State::Unwritten) return;
  submissions_.erase(found);
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
  if (!process_) {
    ready_ = false;
    auto process = pty::LineProcess::start(loop_, command_, *this);
    if (!process) return done(Failure{process.error()});
    process_ = *std::move(process);
    process_->write_line(handshake_request());
    if (!process_) return done(fail("codex app-server: it exited at once"));  // found while writing the handshake
  }
  const auto id = ++last_id_;
  requests_.push_back(
      {.id = id,
       .action = action,
       .line = json::serialize(json::object{{"id", id}, {"method", method}, {"params", std::move(params)}}),
       .done = std::move(done),
       .until = loop_.now().steady + timeouts_.response});
  if (ready_) write_pending();
  set_timer();
}

void CodexQueue::write_pending() {
  // A write may find that the process has exited; the failure of a request may have started another one.
  for (std::size_t i = 0; i < requests_.size() && process_ && ready_; ++i)
    if (!std::exchange(requests_[i].written, true)) process_->write_line(requests_[i].line);
}

void CodexQueue::on_line(std::string_view line) {
  const auto message = parse_json_object(line);
  if (!message) return;  // log output, or an unknown format
  const auto id = integer_member(*message, "id");
  if (!id || message->contains("method")) return;  // not a response
  const auto* error = object_member(*message, "error");
  const auto reason = error != nullptr ? string_member(*error, "message").value_or("without a reason") : "";
  if (*id == kHandshakeId && !ready_) {
    if (error != nullptr) return fail_requests("Codex rejected the handshake: " + reason);
    ready_ = true;
    process_->write_line(R"({"method":"initialized"})");  // if this fails, no request is left
    return write_pending();
  }
  const auto found = std::ranges::find(requests_, *id, &Request::id);
  if (found == requests_.end()) return;
  auto request = std::move(*found);
  requests_.erase(found);
  set_timer();
  if (error != nullptr) return request.done(fail(format("Codex did not {}: {}", request.action, reason)));
  const auto* result = object_member(*message, "result");
  request.done(result == nullptr ? json::object{} : *result);
}

void CodexQueue::on_ended(const std::string& reason) { fail_requests(format("codex app-server: {}", reason)); }

void CodexQueue::fail_requests(const std::string& reason) {
  process_.reset();
  ready_ = false;
  timer_.reset();
  for (auto& request : std::exchange(requests_, {}))
    request.done(request.written ? Result<json::object>{json::object{}} : Result<json::object>{fail(reason)});
}

void CodexQueue::set_timer() {
  if (requests_.empty()) {
    timer_ = loop_.at(loop_.now().steady + timeouts_.keep_alive, [this] { process_.reset(); });
    return;
  }
  timer_ = loop_.at(requests_.front().until, [this] { fail_requests("codex app-server did not answer in time"); });
}

}  // namespace relay::adapters
