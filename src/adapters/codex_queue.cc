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

CodexQueue::CodexQueue(net::AsioLoop& loop, pty::Command command, CodexPace pace)
    : loop_{loop}, command_{std::move(command)}, pace_{pace} {
  command_.argv = {command_.argv.front(), "app-server"};
}

void CodexQueue::put(const Words& words, const std::string& thread, Adapter::OnHanded done) {
  if (!helper_) {
    ready_ = false;
    auto helper = pty::LineHelper::start(loop_, command_, *this);
    if (!helper) return done(Failure{helper.error()});
    helper_ = *std::move(helper);
    helper_->write_line(greeting());
    if (!helper_) return done(fail("codex app-server: it ended at once"));  // found gone in the middle of our greeting
  }
  const auto id = ++last_id_;
  const json::object request{{"id", id},
                             {"method", "thread/queue/add"},
                             {"params",
                              {{"threadId", thread},
                               {"clientUserMessageId", words.delivery},
                               {"input", json::array{{{"type", "text"}, {"text", words.text}}}}}}};
  requests_.push_back({.id = id,
                       .line = json::serialize(request),
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
  request.done(error != nullptr ? Result<void>{fail("Codex did not queue it: " + why)} : Result<void>{});
}

void CodexQueue::on_ended(const std::string& reason) { give_up(format("codex app-server: {}", reason)); }

void CodexQueue::give_up(const std::string& reason) {
  helper_.reset();
  timer_.reset();
  for (auto& request : std::exchange(requests_, {}))
    request.done(request.written ? Result<void>{} : Result<void>{fail(reason)});
}

void CodexQueue::set_timer() {
  if (requests_.empty()) {
    timer_ = loop_.at(loop_.now().steady + pace_.keep_alive, [this] { helper_.reset(); });
    return;
  }
  timer_ = loop_.at(requests_.front().until, [this] { give_up("codex app-server did not answer in time"); });
}

}  // namespace relay::adapters
