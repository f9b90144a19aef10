#include "host/voice.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>

#include "base/directory.h"
#include "base/format.h"
#include "base/json.h"
#include "protocol/json_writer.h"
#include "speech/outbox_file.h"

namespace relay::host {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFileBytes = protocol::kMaxFrameBytes / 2;
constexpr std::size_t kMaxFileNameBytes = 100;
constexpr Millis kSpawnPatience{60'000};  // an agent takes its time to start

/// One plain name inside the folder: no way out of it.
bool is_file_name(std::string_view id) {
  return !id.empty() && id.size() <= kMaxFileNameBytes && !id.starts_with('.') &&
         std::ranges::all_of(id,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

void Voice::carry_out(const speech::Utterance& utterance) {
  std::visit([this](const auto& what) { carry_out(what); }, utterance);
}

void Voice::carry_out(const speech::Command& command) {
  if (command.project)
    return listener_.on_unsaid(format("{} is in another project, and messages stay within one for now.", command.to));
  protocol::JsonWriter payload;
  payload.field("kind", name_of(command.kind)).field("body", command.body);
  if (command.thread) payload.field("thread", *command.thread);
  if (command.data) payload.raw("data", json::serialize(*command.data));
  if (const auto sent = link_.send({.to = command.to, .payload = payload.take()}); !sent)
    listener_.on_unsaid(sent.error().message());
  else
    listener_.on_said(command.to, name_of(command.kind));
}

void Voice::carry_out(const speech::Mistake& mistake) {
  listener_.on_unsaid(format("{} Write: {}", mistake.reason, mistake.right_form));
}

void Voice::carry_out(const speech::Spawn& spawn) {
  protocol::JsonWriter payload;
  payload.field("name", spawn.name).field("cli", spawn.cli).optional("task", spawn.task);
  ask(protocol::MessageType::Spawn, payload.take(), format("{} was not started", spawn.name));
}

void Voice::carry_out(const speech::Release& release) {
  protocol::JsonWriter payload;
  payload.field("name", release.name);
  ask(protocol::MessageType::Release, payload.take(), format("{} was not released", release.name));
}

void Voice::ask(protocol::MessageType type, std::string payload, const std::string& what) {
  if (!link_.ready())
    return listener_.on_unsaid(format("{}: the relay daemon is not there now; say it again later.", what));
  link_.ask(
      type, payload,
      [this, what](Result<const protocol::Envelope*> answer) {
        if (!answer) return listener_.on_unsaid(format("{}: {}", what, answer.error().message()));
        const auto result = parse_json_object((*answer)->payload);
        if (result && bool_member(*result, "success").value_or(false)) return;
        const auto why =
            result ? string_member(*result, "error").value_or("no reason was given") : "no reason was given";
        listener_.on_unsaid(format("{}: {}", what, why));
      },
      kSpawnPatience);
}

/// The file is removed once its message is kept elsewhere, so that it is sent once.
void Voice::carry_out(const speech::FileTrigger& trigger) {
  if (!is_file_name(trigger.id))
    return listener_.on_unsaid(format("{} cannot be the name of a file in $AGENT_RELAY_OUTBOX.", trigger.id));
  const auto directory = DiskDirectory::open(files_);
  if (!directory) return listener_.on_unsaid(directory.error().message());
  for (const auto& name : {trigger.id, trigger.id + ".json"}) {
    const auto content = (*directory)->read(name, kMaxFileBytes);
    if (!content) return listener_.on_unsaid(content.error().message());
    if (!*content) continue;
    carry_out(speech::read_outbox_file(**content));
    std::error_code none;
    fs::remove(fs::path{files_} / name, none);
    return;
  }
  listener_.on_unsaid(format("there is no file {} in $AGENT_RELAY_OUTBOX ({}).", trigger.id, files_));
}

}  // namespace relay::host
