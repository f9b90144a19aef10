/// `agent-relay send TO TEXT`
#include <unistd.h>

#include <array>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/invocation.h"
#include "cli/people.h"
#include "cli/workspace.h"
#include "protocol/json_scanner.h"
#include "protocol/json_writer.h"
#include "protocol/limits.h"
#include "protocol/send.h"

namespace relay::cli {
namespace {

constexpr Millis kDefaultWait{30'000};

Result<std::string> read_stdin() {
  std::string text;
  std::array<char, 64 * 1024> buffer;
  for (;;) {
    const auto count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno("cannot read the text from stdin");
    if (count == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > protocol::kMaxFrameBytes)
      return fail(Errc::TooLarge,
                  relay::format("the text on stdin is larger than {} bytes; send it as a file and say where it is",
                                protocol::kMaxFrameBytes));
  }
  if (text.ends_with('\n')) text.pop_back();  // the shell's, not the sender's
  return text;
}

/// How one send ended.
struct Outcome {
  ExitCode code = ExitCode::Yes;
  std::string status;  // accepted, delivered, failed, refused, pending
  std::string sentence;
  std::string refusal;
};

class Sending {
 public:
  Sending(const Invocation& invocation, const Context& context) : invocation_{invocation}, context_{context} {}

  Result<Outcome> run(std::string_view text, Millis timeout, std::optional<Millis> ttl) {
    auto connection = RELAY_TRY(reach_workspace(context_));
    const auto to = invocation_.argument(0), from = invocation_.value("--from").value_or(context_.own_name());
    const auto topic = invocation_.value("--topic").value_or("");
    protocol::JsonWriter payload;
    payload.field("kind", invocation_.value("--kind").value_or("message")).field("body", text);
    payload.optional("thread", invocation_.value("--thread").value_or(""));
    protocol::JsonWriter meta;
    if (waits()) meta.field("requires_ack", true);
    if (ttl) meta.field("ttl_ms", ttl->count());
    const auto payload_text = payload.take(), meta_text = meta.take();
    const auto deadline = in(timeout);
    id_ = RELAY_TRY(connection.send({.type = protocol::MessageType::Send,
                                     .id = {},
                                     .from = from,
                                     .to = to,
                                     .topic = topic,
                                     .payload = payload_text,
                                     .payload_meta = meta_text == "{}" ? std::string_view{} : meta_text}));
    return hear(connection, deadline);
  }

  [[nodiscard]] const std::string& id() const { return id_; }

 private:
  [[nodiscard]] bool waits() const { return invocation_.has("--wait"); }

  Result<Outcome> hear(Connection& connection, Deadline deadline) {
    bool stored = false;
    for (;;) {
      const auto frame = connection.receive(stored ? deadline : in(kAnswerTimeout));
      if (!frame) {
        if (!stored) return Failure{frame.error()};
        if (is(frame.error(), Errc::TimedOut))
          return Outcome{ExitCode::TimedOut, "pending",
                         "it was not delivered in time; it is stored and will be delivered later", ""};
        return Outcome{ending_of(frame.error()).code, "pending",
                       frame.error().message() + "; the message is stored and will be delivered later", ""};
      }
      const auto& envelope = frame->envelope;
      switch (envelope.type) {
        case protocol::MessageType::Ack:
          if (RELAY_TRY(protocol::parse_ack(envelope.payload)).ack_id != id_) break;
          stored = true;
          if (!waits()) return Outcome{ExitCode::Yes, "accepted", "", ""};
          break;
        case protocol::MessageType::Nack: {
          const auto nack = RELAY_TRY(protocol::parse_nack(envelope.payload));
          if (nack.nack_id != id_) break;
          return Outcome{ExitCode::Refused, "refused", nack.message.empty() ? nack.code : nack.message, nack.code};
        }
        case protocol::MessageType::Receipt: {
          const auto receipt = RELAY_TRY(protocol::parse_receipt(envelope.payload));
          if (receipt.message_id != id_) break;
          if (receipt.status == protocol::ReceiptStatus::Delivered) return Outcome{ExitCode::Yes, "delivered", "", ""};
          if (receipt.status == protocol::ReceiptStatus::Failed)
            return Outcome{ExitCode::No, "failed",
                           "it was not delivered: " + (receipt.reason.empty() ? "no reason was given" : receipt.reason),
                           ""};
          break;
        }
        case protocol::MessageType::Error: {
          const auto error = RELAY_TRY(protocol::parse_error(envelope.payload));
          return Outcome{ExitCode::Refused, "refused", error.message, error.code};
        }
        default: break;  // not about us
      }
    }
  }

  const Invocation& invocation_;
  const Context& context_;
  std::string id_;
};

ExitCode run(const Invocation& invocation, Context& context) {
  const auto to = invocation.argument(0);
  RELAY_CLI_USAGE(check_recipient(to));
  RELAY_CLI_USAGE(speaker(invocation, "--from", context));
  if (invocation.has("--wait") && (to == "*" || to.starts_with('#')))
    return complain(relay::format("--wait needs one recipient, not {}; leave it out", to), ExitCode::Usage);
  const auto timeout = RELAY_CLI_USAGE(invocation.duration("--timeout", kDefaultWait));
  std::optional<Millis> ttl;
  if (invocation.has("--ttl")) ttl = RELAY_CLI_USAGE(invocation.duration("--ttl", Millis{0}));
  if (ttl && (ttl->count() <= 0 || ttl->count() > protocol::kMaxTtlMs))
    return complain("--ttl must be longer than nothing and at most 30d", ExitCode::Usage);
  auto text = invocation.rest(1);
  if (text == "-") text = RELAY_CLI_TRY(read_stdin());
  if (text.empty()) return complain("the text is empty; say something", ExitCode::Usage);
  if (!protocol::is_utf8(text))
    return complain("the text is not UTF-8; convert it first, for example with iconv", ExitCode::Usage);

  Sending sending{invocation, context};
  const auto outcome = RELAY_CLI_TRY(sending.run(text, timeout, ttl));
  if (!outcome.refusal.empty()) return complain({.nack_id = {}, .code = outcome.refusal, .message = outcome.sentence});
  if (!outcome.sentence.empty()) return complain(outcome.sentence, outcome.code);
  if (invocation.has("--json"))
    print(json::serialize(json::object{{"id", sending.id()}, {"to", to}, {"status", outcome.status}}) + "\n");
  return ExitCode::Yes;
}

constexpr Argument kArguments[] = {
    {.name = "TO", .description = "an agent's name, '*' for everyone, #channel", .completes = Completes::Agents},
    {.name = "TEXT", .arity = Arity::Many, .description = "what to say; - reads it from stdin"},
};
constexpr Option kOptions[] = {
    {.name = "--from", .value = "NAME", .description = "who says it; default $AGENT_RELAY_NAME, else $USER"},
    {.name = "--wait", .description = "return when it was delivered"},
    {.name = "--timeout", .value = "TIME", .description = "how long --wait waits (default 30s)"},
    {.name = "--ttl", .value = "TIME", .description = "give up delivering after this time, e.g. 2h"},
    {.name = "--topic", .value = "TOPIC", .description = "what it is about"},
    {.name = "--thread", .value = "ID", .description = "the conversation it belongs to"},
    {.name = "--kind",
     .value = "KIND",
     .description = "what it is (default message)",
     .choices = "message|action|state|thinking"},
    kJsonOption,
};

}  // namespace

const Command kSend = {
    .name = "send",
    .group = Group::Everyday,
    .usage = "send TO TEXT",
    .summary = "say TEXT to TO, or to everyone with '*'",
    .hint = "[--wait]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay send Bob \"the build is green\" --wait",
    .details = "Ends with 0 once the daemon has stored it; with --wait once the recipient has it.",
    .run = run,
};

}  // namespace relay::cli
