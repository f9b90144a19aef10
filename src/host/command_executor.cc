#include "host/command_executor.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/directory.h"
#include "base/format.h"
#include "base/json.h"
#include "base/log.h"
#include "commands/outbox_file.h"
#include "protocol/outgoing_send.h"
#include "text/json_writer.h"

namespace relay::host {
namespace {

constexpr std::size_t kMaxFileBytes = protocol::kMaxFrameBytes / 2;
constexpr std::size_t kMaxFileNameBytes = 100;
constexpr Millis kReleaseTimeout{60'000};
constexpr Millis kSpawnTimeout{660'000};  // the user may get a prompt about it, for ten minutes

/// A plain file name, which cannot leave the folder.
bool is_file_name(std::string_view id) {
  return !id.empty() && id.size() <= kMaxFileNameBytes && !id.starts_with('.') &&
         std::ranges::all_of(id,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; });
}

/// The wire has no field for a subject, so `data` carries it unless the agent set that member.
std::string data_of(const commands::SendCommand& command) {
  if (!command.data && !command.metadata.subject) return {};
  auto data = command.data.value_or(json::object{});
  if (command.metadata.subject && !data.contains("subject")) data["subject"] = *command.metadata.subject;
  return json::serialize(data);
}

}  // namespace

void CommandExecutor::execute(const commands::Command& command) {
  std::visit([this](const auto& each) { (void)execute(each); }, command);
}

bool CommandExecutor::fail_command(std::string_view why) {
  listener_.on_command_failed(why);
  return false;
}

bool CommandExecutor::execute(const commands::SendCommand& command) {
  if (command.project)
    return fail_command(format("{} is in another project, and messages stay within one project for now.", command.to));
  const auto message = client::encode_message({.to = command.to,
                                               .body = command.body,
                                               .kind = std::string{name_of(command.kind)},
                                               .topic = command.topic.value_or(""),
                                               .thread = command.thread.value_or(""),
                                               .data = data_of(command),
                                               .meta = {.requires_ack = command.metadata.ack_required.value_or(false),
                                                        .importance = command.metadata.importance,
                                                        .reply_to = command.metadata.reply_to.value_or("")}});
  if (!message) return fail_command(message.error().message());
  const auto sent = link_.send(*message);
  if (!sent) return fail_command(sent.error().message());
  unacknowledged_.insert_or_assign(*sent, UnacknowledgedMessage{command.to, name_of(command.kind)});
  if (command.metadata.ack_required.value_or(false)) {
    if (followed_.size() >= kMaxFollowedMessages) followed_.pop_front();
    followed_.push_back({*sent, command.to});
  }
  return true;
}

void CommandExecutor::on_receipt(const protocol::Receipt& receipt) {
  const auto message = std::ranges::find(followed_, receipt.message_id, &FollowedMessage::id);
  if (message == followed_.end()) return;
  const auto& to = receipt.agent.empty() ? message->to : receipt.agent;
  const auto reason =
      receipt.reason.empty() ? std::string_view{"no reason was given"} : std::string_view{receipt.reason};
  if (receipt.status == protocol::ReceiptStatus::Failed)
    listener_.on_command_failed(format("your message to {} was not delivered: {}", to, reason));
  if (receipt.status == protocol::ReceiptStatus::InDoubt)
    listener_.on_command_failed(format("it is not known whether {} received your message: {}", to, reason));
}

void CommandExecutor::on_sent(const std::string& id) {
  const auto message = unacknowledged_.extract(id);
  if (!message.empty()) listener_.on_command_sent(message.mapped().to, message.mapped().kind);
}

bool CommandExecutor::execute(const commands::CommandError& error) {
  const bool is_sentence = error.reason.ends_with('.') || error.reason.ends_with('?');
  return fail_command(format("{}{} Write: {}", error.reason, is_sentence ? "" : ".", error.usage));
}

bool CommandExecutor::execute(const commands::SpawnCommand& spawn) {
  text::JsonWriter payload;
  payload.field("name", spawn.name).field("cli", spawn.cli).optional("task", spawn.task);
  return request(protocol::MessageType::Spawn, payload.take(), format("{} was not started", spawn.name));
}

bool CommandExecutor::execute(const commands::ReleaseCommand& release) {
  text::JsonWriter payload;
  payload.field("name", release.name);
  return request(protocol::MessageType::Release, payload.take(), format("{} was not released", release.name));
}

bool CommandExecutor::execute(const commands::TopicChange& change) {
  text::JsonWriter payload;
  payload.field("action", change.subscribe ? "subscribe" : "unsubscribe").field("topic", change.topic);
  return request(protocol::MessageType::Topics, payload.take(), format("the topic {} was not changed", change.topic));
}

bool CommandExecutor::request(protocol::MessageType type, std::string payload, const std::string& what) {
  if (link_.ready()) {
    request_now(type, payload, what);
    return true;
  }
  if (!before_first_ready_)
    return fail_command(format("{}: the relay daemon is not connected; repeat the command later.", what));
  if (early_.size() >= kMaxEarlyRequests || early_bytes_ + payload.size() > kMaxEarlyBytes)
    return fail_command(
        format("{}: too many requests are queued for the relay daemon; repeat the command later.", what));
  log::debug("request queued until the daemon connects",
             {{"type", std::string{protocol::name_of(type)}}, {"queued", format("{}", early_.size() + 1)}});
  early_bytes_ += payload.size();
  early_.push_back({type, std::move(payload), what});
  return true;
}

void CommandExecutor::request_now(protocol::MessageType type, const std::string& payload, const std::string& what) {
  link_.request(
      type, payload,
      [this, what](Result<const protocol::Envelope*> response) {
        if (!response) return listener_.on_command_failed(format("{}: {}", what, response.error().message()));
        const auto result = parse_json_object((*response)->payload);
        if (result && bool_member(*result, "success").value_or(false)) return;
        const auto why =
            result ? string_member(*result, "error").value_or("no reason was given") : "no reason was given";
        listener_.on_command_failed(format("{}: {}", what, why));
      },
      type == protocol::MessageType::Spawn ? kSpawnTimeout : kReleaseTimeout);
}

void CommandExecutor::on_ready() {
  before_first_ready_ = false;
  for (const auto& request : std::exchange(early_, {})) request_now(request.type, request.payload, request.what);
}

void CommandExecutor::on_stopped(std::string_view why) {
  before_first_ready_ = false;
  for (const auto& request : std::exchange(early_, {})) (void)fail_command(format("{}: {}", request.what, why));
}

/// Removes the file only when its content is stored elsewhere: an error in it does not lose it.
bool CommandExecutor::execute(const commands::SendFileCommand& file) {
  if (!is_file_name(file.id))
    return fail_command(format("{} cannot be the name of a file in $AGENT_RELAY_OUTBOX.", file.id));
  const auto directory = DiskDirectory::open_inside(files_.root, files_.names);
  if (!directory) return fail_command(directory.error().message());
  for (const auto& name : {file.id, file.id + ".json"}) {
    const auto content = (*directory)->read(name, kMaxFileBytes);
    if (!content) return fail_command(content.error().message());
    if (!*content) continue;
    const bool stored =
        std::visit([this](const auto& command) { return execute(command); }, commands::read_outbox_file(**content));
    if (stored) (void)(*directory)->remove(name);
    return stored;
  }
  return fail_command(format("there is no file {} in $AGENT_RELAY_OUTBOX ({}).", file.id, (*directory)->path()));
}

}  // namespace relay::host
