#include "adapters/codex_queue.h"

#include <algorithm>

#include "base/format.h"
#include "base/json.h"

namespace relay::adapters {
namespace {

constexpr std::int64_t kGreeting = 0;

std::string greeting() {
  return json::serialize(json::object{
      {"id", kGreeting},
      {"method", "initialize"},
      {"params",
       {{"clientInfo", {{"name", "agent-relay"}, {"version", "1"}}}, {"capabilities", {{"experimentalApi", true}}}}}});
}

}  // namespace

CodexQueue::CodexQueue(net::AsioLoop& loop, pty::Command command, OnWithdrawn on_withdrawn, CodexPace pace)
    : loop_{loop}, command_{std::move(command)}, on_withdrawn_{std::move(on_withdrawn)}, pace_{pace} {
  command_.argv = {command_.argv.front(), "app-server"};
}

void CodexQueue::put(const Words& words, const std::string& thread, Adapter::OnHanded done) {
  Submission submission{.thread = thread, .delivery = words.delivery, .text = words.text};
  call("thread/queue/add",
       {{"threadId", thread},
        {"clientUserMessageId", words.delivery},
        {"input", json::array{{{"type", "text"}, {"text", words.text}}}}},
       [this, submission = std::move(submission), done = std::move(done)](Result<json::object> result) mutable {
         if (!result) return done(Failure{result.error()});
         const auto* queued = object_member(*result, "queuedSubmission");
         submission.id = queued == nullptr ? "" : string_member(*queued, "id").value_or("");
         if (!submission.id.empty()) queued_.push_back(std::move(submission));
         if (queued_.size() > kMaxQueued) queued_.pop_front();
         done({});
       });
}

void CodexQueue::withdraw_all() {
  for (const auto& submission : std::exchange(queued_, {})) withdraw(submission);
}

void CodexQueue::withdraw(const Submission& submission) {
  call("thread/queue/delete", {{"threadId", submission.thread}, {"queuedSubmissionId", submission.id}},
       [this, delivery = submission.delivery](const Result<json::object>& result) {
         if (result && bool_member(*result, "deleted") == true) on_withdrawn_(delivery);
       });
}

void CodexQueue::on_model_input(std::string_view text) {
  std::erase_if(queued_, [&](const Submission& each) { return text.find(each.text) != std::string_view::npos; });
}

void CodexQueue::call(std::string_view method, json::object params, OnResponse done) {
  if (!helper_) {
    ready_ = false;
    auto helper = pty::LineHelper::start(loop_, command_, *this);
    if (!helper) return done(Failure{helper.error()});
    helper_ = *std::move(helper);
    helper_->write_line(greeting());
    if (!helper_) return done(fail("codex app-server: it ended at once"));  // found gone in the middle of our greeting
  }
  const auto id = ++last_id_;
  requests_.push_back(
      {.id = id,
       .line = json::serialize(json::object{{"id", id}, {"method", method}, {"params", std::move(params)}}),
       .done = std::move(done),
       .until = loop_.now().steady + pace_.patience});
  if (ready_) write_waiting();
  set_timer();
}

void CodexQueue::write_waiting() {
  for (std::size_t i = 0; i < requests_.size() && helper_; ++i)  // a write may find out that it is gone
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
  if (error != nullptr) return request.done(fail("Codex did not queue it: " + why));
  const auto* result = object_member(*answer, "result");
  request.done(result == nullptr ? json::object{} : *result);
}

void CodexQueue::on_ended(const std::string& reason) { give_up(format("codex app-server: {}", reason)); }

void CodexQueue::give_up(const std::string& reason) {
  helper_.reset();
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
