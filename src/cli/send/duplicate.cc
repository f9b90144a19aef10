#include "cli/send/duplicate.h"

#include "base/format.h"
#include "cli/framework/failure.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/message.h"
#include "cli/wire/trace_watch.h"
#include "cli/wire/workspace.h"

namespace relay::cli {
namespace {

using Kind = SendResult::Kind;
using protocol::MessageType;

constexpr int kMessagesPerPage = 100;

/// Looks up the answer on a separate connection, because the watching connection must miss no event.
class AnswerFinder {
 public:
  AnswerFinder(DaemonConnection connection, std::string agent, std::string requester)
      : connection_{std::move(connection)}, agent_{std::move(agent)}, requester_{std::move(requester)} {}

  /// The first message from the agent that is in the thread of the question or replies to it. For a plain answer the
  /// daemon has set `replyTo`.
  Result<std::optional<MessageRow>> find(const std::string& question) {
    if (after_ == 0) {
      const auto found = RELAY_TRY(query({{"id", question}, {"limit", 1}}));
      if (found.empty()) return std::nullopt;
      thread_ = found.front().thread;
      after_ = found.front().key;
    }
    for (;;) {
      auto found = RELAY_TRY(query(
          {{"from", agent_}, {"to", requester_}, {"afterKey", after_}, {"order", "asc"}, {"limit", kMessagesPerPage}}));
      if (found.empty()) return std::nullopt;
      for (auto& message : found) {
        after_ = message.key;
        const bool in_thread = !thread_.empty() && message.thread == thread_;
        if (in_thread || string_member(message.raw, "replyTo") == question) return std::move(message);
      }
    }
  }

 private:
  Result<std::vector<MessageRow>> query(const json::object& filter) {
    const auto payload = RELAY_TRY(connection_.request(MessageType::MessagesQuery, json::serialize(filter)));
    return RELAY_TRY(parse_page(payload)).messages;
  }

  DaemonConnection connection_;
  std::string agent_, requester_, thread_;
  std::int64_t after_ = 0;
};

/// One duplicate: follows its history to the requested proof.
class DuplicateWatch {
 public:
  DuplicateWatch(const SendRequest& request, SendResult result,
                 const std::function<void(const SendResult&)>& on_progress)
      : request_{request}, result_{std::move(result)}, on_progress_{on_progress} {
    result_.duplicate = true;
  }

  Result<SendResult> run(DaemonConnection connection, std::optional<AnswerFinder> answers) {
    const bool stored = request_.until == WaitFor::Stored;
    auto watched = watch_trace(
        connection, result_.id.empty() ? request_.id : result_.id, stored ? in(kResponseTimeout) : in(request_.timeout),
        [&](const json::object& trace) { return on_trace(trace, answers); },
        answers ? TraceScope::All : TraceScope::Message);
    if (error_ && !is(*error_, Errc::Interrupted)) return Failure{*error_};
    if (error_) watched = Failure{*error_};
    if (watched && !not_found_) return std::move(result_);
    if (!watched && !is(watched.error(), Errc::TimedOut) && exit_reason(watched.error()).code != ExitCode::Failed)
      return Failure{watched.error()};
    if (stored) return finish(Kind::Reached);  // as the ACK stated
    if (not_found_) return not_followed("this id belongs to another message");
    const bool interrupted = is(watched.error(), Errc::Interrupted);
    if (!interrupted && !is(watched.error(), Errc::TimedOut)) return not_followed(watched.error().message());
    return timed_out(watched.error());
  }

  /// The wait ended without the proof.
  SendResult timed_out(const Error& error) {
    if (is(error, Errc::Interrupted)) result_.reason = error.message();
    result_.code = exit_reason(error).code;
    return finish(request_.until == WaitFor::Stored ? Kind::Reached : Kind::TimedOut);
  }

 private:
  bool on_trace(const json::object& trace, std::optional<AnswerFinder>& answers) {
    static const json::object kNone;
    const auto* traced = object_member(trace, "message");
    const auto& message = traced != nullptr ? *traced : kNone;
    const auto text = [&](std::string_view name) { return string_member(message, name).value_or(""); };
    // The id may be a prefix of another message's id, or chosen by another sender too.
    not_found_ = text("senderId") != request_.id || text("from") != request_.from;
    if (not_found_) return true;
    result_.id = text("id");
    // TRACE leaves out a very long body.
    if (text("to") != request_.to || (text("body") != request_.text && text("body") != "")) return id_in_use();
    const auto deliveries = objects_in(trace, "deliveries");
    result_.recipients = deliveries.size();
    if (!deliveries.empty()) result_.state = string_member(*deliveries.back(), "state").value_or("");
    result_.kind = Kind::Reached;
    if (request_.until == WaitFor::Stored) return true;
    if (answers && answered(*answers)) return true;
    result_.steps.clear();
    if (deliveries.empty()) return false;
    const auto& last = *deliveries.back();  // after a redelivery the others are final
    result_.offline_since = time_in(last, "offlineSince");
    if (apply_history(result_, request_.until, last)) return true;
    on_progress_(result_);
    return false;
  }

  bool answered(AnswerFinder& answers) {
    auto found = answers.find(result_.id);
    if (!found) error_ = found.error();
    if (!found || !*found) return !found;
    result_.answer = std::move((*found)->body);
    result_.answer_id = std::move((*found)->id);
    return true;
  }

  Failure not_followed(std::string_view reason) const {
    return fail(
        relay::format("it was sent before and is stored once, but its delivery cannot be followed by the id {}: {}; "
                      "find its own id with: agent-relay log {}, then: agent-relay trace ID",
                      request_.id, reason, request_.to));
  }

  bool id_in_use() {
    result_.kind = Kind::Refused;
    result_.refusal = {.nack_id = request_.id,
                       .code = std::string{name_of(protocol::NackCode::BadRequest)},
                       .message = relay::format(
                           "the id {} belongs to another message, {}; this message was not sent; give it another id",
                           request_.id, result_.id)};
    return true;
  }

  SendResult finish(Kind kind) {
    result_.kind = kind;
    return std::move(result_);
  }

  const SendRequest& request_;
  SendResult result_;
  const std::function<void(const SendResult&)>& on_progress_;
  std::optional<Error> error_;
  bool not_found_ = false;  // the id belongs to another message
};

}  // namespace

bool apply_history(SendResult& result, WaitFor until, const json::object& delivery) {
  using protocol::ReceiptStatus;
  auto steps = receipts_of(delivery);
  bool settled = false;
  for (auto& step : steps) {
    const bool ended = step.status == ReceiptStatus::Failed || step.status == ReceiptStatus::InDoubt;
    if (ended && &step != &steps.back()) continue;
    settled = record_step(result, until, std::move(step));
  }
  const auto state = string_member(delivery, "state"), proof = string_member(delivery, "proof");
  if (state == "queued") return false;  // requeued after the receipts before
  if (state == "deferred") return until == WaitFor::Accepted && proof != "stored";
  return settled;
}

Result<SendResult> result_of_duplicate(const Context& context, const SendRequest& request, SendResult result,
                                       const std::function<void(const SendResult&)>& on_progress, int interrupts) {
  DuplicateWatch watch{request, std::move(result), on_progress};
  auto history = join_workspace(context, kResponseTimeout, interrupts);
  std::optional<AnswerFinder> answers;
  if (history && request.until == WaitFor::Answered) {
    auto connection = join_workspace(context, kResponseTimeout, interrupts);
    if (connection)
      answers.emplace(*std::move(connection), request.to, request.from);
    else
      history = Failure{connection.error()};
  }
  if (history) return watch.run(*std::move(history), std::move(answers));
  if (is(history.error(), Errc::Interrupted)) return watch.timed_out(history.error());
  return Failure{history.error()};
}

}  // namespace relay::cli
