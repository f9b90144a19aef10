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

constexpr int kAnswersPerPage = 100;

/// What an asker waits for, looked up on a connection of its own: the one that watches must miss nothing.
class Answers {
 public:
  Answers(DaemonConnection connection, std::string asked, std::string asker)
      : connection_{std::move(connection)}, asked_{std::move(asked)}, asker_{std::move(asker)} {}

  /// The first message back from the asked agent that is in the question's thread or replies to it. A plain answer has
  /// a `replyTo` from the daemon.
  Result<std::optional<MessageRow>> find(const std::string& question) {
    if (after_ == 0) {
      const auto found = RELAY_TRY(ask({{"id", question}, {"limit", 1}}));
      if (found.empty()) return std::nullopt;
      thread_ = found.front().thread;
      after_ = found.front().key;
    }
    for (;;) {
      auto found = RELAY_TRY(
          ask({{"from", asked_}, {"to", asker_}, {"afterKey", after_}, {"order", "asc"}, {"limit", kAnswersPerPage}}));
      if (found.empty()) return std::nullopt;
      for (auto& message : found) {
        after_ = message.key;
        const bool in_thread = !thread_.empty() && message.thread == thread_;
        if (in_thread || string_member(message.raw, "replyTo") == question) return std::move(message);
      }
    }
  }

 private:
  Result<std::vector<MessageRow>> ask(const json::object& query) {
    const auto payload = RELAY_TRY(connection_.request(MessageType::MessagesQuery, json::serialize(query)));
    return RELAY_TRY(page_in(payload)).messages;
  }

  DaemonConnection connection_;
  std::string asked_, asker_, thread_;
  std::int64_t after_ = 0;
};

/// One repetition, from its ledger to where its sender wants it.
class Repeat {
 public:
  Repeat(const SendRequest& letter, SendResult fate, const std::function<void(const SendResult&)>& on_news)
      : letter_{letter}, fate_{std::move(fate)}, on_news_{on_news} {
    fate_.repeat = true;
  }

  Result<SendResult> run(DaemonConnection ledger, std::optional<Answers> answers) {
    const bool stored = letter_.until == WaitFor::Stored;
    auto watched = watch_trace(
        ledger, fate_.id.empty() ? letter_.id : fate_.id, stored ? in(kAnswerTimeout) : in(letter_.timeout),
        [&](const json::object& trace) { return look(trace, answers); },
        answers ? TraceScope::Everything : TraceScope::Itself);
    if (error_ && !is(*error_, Errc::Interrupted)) return Failure{*error_};
    if (error_) watched = Failure{*error_};
    if (watched && !not_found_) return std::move(fate_);
    if (!watched && !is(watched.error(), Errc::TimedOut) && exit_reason(watched.error()).code != ExitCode::Failed)
      return Failure{watched.error()};
    if (stored) return ended(Kind::Reached);  // that much the daemon said itself
    if (not_found_) return not_followed("this id belongs to another message");
    const bool interrupted = is(watched.error(), Errc::Interrupted);
    if (!interrupted && !is(watched.error(), Errc::TimedOut)) return not_followed(watched.error().message());
    return not_yet(watched.error());
  }

  /// The waiting ended before it came where its sender wants it.
  SendResult not_yet(const Error& why) {
    if (is(why, Errc::Interrupted)) fate_.reason = why.message();
    fate_.code = exit_reason(why).code;
    return ended(letter_.until == WaitFor::Stored ? Kind::Reached : Kind::NotYet);
  }

 private:
  bool look(const json::object& trace, std::optional<Answers>& answers) {
    static const json::object kNone;
    const auto* known = object_member(trace, "message");
    const auto& message = known != nullptr ? *known : kNone;
    const auto text = [&](std::string_view name) { return string_member(message, name).value_or(""); };
    // The id may be how another's begins, and others choose ids too.
    not_found_ = text("senderId") != letter_.id || text("from") != letter_.from;
    if (not_found_) return true;
    fate_.id = text("id");
    // A very long body is not shown in a ledger.
    if (text("to") != letter_.to || (text("body") != letter_.text && text("body") != "")) return stands_for_another();
    const auto deliveries = objects_in(trace, "deliveries");
    fate_.recipients = deliveries.size();
    if (!deliveries.empty()) fate_.state = string_member(*deliveries.back(), "state").value_or("");
    fate_.kind = Kind::Reached;
    if (letter_.until == WaitFor::Stored) return true;
    if (answers && answered(*answers)) return true;
    fate_.steps.clear();
    if (deliveries.empty()) return false;
    const auto& last = *deliveries.back();  // begun anew: the others have ended
    fate_.offline_since = time_in(last, "offlineSince");
    if (settles_by_ledger(fate_, letter_.until, last)) return true;
    on_news_(fate_);
    return false;
  }

  bool answered(Answers& answers) {
    auto found = answers.find(fate_.id);
    if (!found) error_ = found.error();
    if (!found || !*found) return !found;
    fate_.answer = std::move((*found)->body);
    fate_.answer_id = std::move((*found)->id);
    return true;
  }

  Failure not_followed(std::string_view why) const {
    return fail(
        relay::format("it was sent before and is stored once, but its delivery cannot be followed by the id {}: {}; "
                      "find its own id with: agent-relay log {}, then: agent-relay trace ID",
                      letter_.id, why, letter_.to));
  }

  bool stands_for_another() {
    fate_.kind = Kind::Refused;
    fate_.refusal = {
        .nack_id = letter_.id,
        .code = std::string{name_of(protocol::NackCode::BadRequest)},
        .message = relay::format(
            "the id {} belongs to another message, {}; this message was not sent; give it an id of its own", letter_.id,
            fate_.id)};
    return true;
  }

  SendResult ended(Kind kind) {
    fate_.kind = kind;
    return std::move(fate_);
  }

  const SendRequest& letter_;
  SendResult fate_;
  const std::function<void(const SendResult&)>& on_news_;
  std::optional<Error> error_;
  bool not_found_ = false;  // what was found by its id is another message
};

}  // namespace

bool settles_by_ledger(SendResult& fate, WaitFor until, const json::object& delivery) {
  using protocol::ReceiptStatus;
  auto steps = receipts_of(delivery);
  bool settled = false;
  for (auto& step : steps) {
    const bool ended = step.status == ReceiptStatus::Failed || step.status == ReceiptStatus::InDoubt;
    if (ended && &step != &steps.back()) continue;
    settled = is_satisfied(fate, until, std::move(step));
  }
  const auto state = string_member(delivery, "state"), proof = string_member(delivery, "proof");
  if (state == "queued") return false;  // put back, whatever was told of it before
  if (state == "deferred") return until == WaitFor::Accepted && proof != "stored";
  return settled;
}

Result<SendResult> result_of_duplicate(const Context& context, const SendRequest& letter, SendResult fate,
                                       const std::function<void(const SendResult&)>& on_news, int interrupts) {
  Repeat repeat{letter, std::move(fate), on_news};
  auto ledger = join_workspace(context, kAnswerTimeout, interrupts);
  std::optional<Answers> answers;
  if (ledger && letter.until == WaitFor::Answered) {
    auto connection = join_workspace(context, kAnswerTimeout, interrupts);
    if (connection)
      answers.emplace(*std::move(connection), letter.to, letter.from);
    else
      ledger = Failure{connection.error()};
  }
  if (ledger) return repeat.run(*std::move(ledger), std::move(answers));
  if (is(ledger.error(), Errc::Interrupted)) return repeat.not_yet(ledger.error());
  return Failure{ledger.error()};
}

}  // namespace relay::cli
