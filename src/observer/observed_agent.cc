#include "observer/observed_agent.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/format.h"
#include "base/hash.h"
#include "base/log.h"
#include "protocol/json_writer.h"
#include "protocol/names.h"

namespace relay::observer {
namespace {

using capture::Kind;

constexpr std::size_t kNameDigits = 4;

client::LinkOptions link_options(const std::string& socket, const std::string& name, const capture::Source& source) {
  client::LinkOptions options;
  options.socket_path = socket;
  options.hello.agent = name;
  options.hello.cli = source.agent;
  options.hello.program = protocol::kObserverProgram;
  options.hello.working_directory = source.working_directory;
  options.patience = client::Patience::never_give_up();
  return options;
}

std::string text_in(const json::object& data, std::string_view name) { return string_member(data, name).value_or(""); }

}  // namespace

adapters::TranscriptFollower::MakeReader transcript_reader(std::string_view agent) {
  if (agent == "claude") return transcripts::claude_reader;
  if (agent == "codex") return transcripts::codex_reader;
  if (agent == "gemini") return transcripts::gemini_reader;
  return nullptr;
}

std::string observed_name(const capture::Source& source) {
  return format("{}-{}", source.agent, sha256_hex(source.session).substr(0, kNameDigits));
}

ObservedAgent::ObservedAgent(net::AsioLoop& loop, net::Network& network, Random& random, std::string workspace_socket,
                             const capture::Source& source, std::move_only_function<void()> on_gone)
    : loop_{loop},
      name_{observed_name(source)},
      on_gone_{std::move(on_gone)},
      outbox_{client::Numbering::RandomIds, {}, random},
      link_{loop, network, random, outbox_, link_options(workspace_socket, name_, source), *this},
      teller_{link_, name_} {
  if (const auto reader = transcript_reader(source.agent))
    transcript_.reset(new adapters::TranscriptFollower{loop, reader, *this});
  link_.start();
}

ObservedAgent::~ObservedAgent() {
  *alive_ = false;
  if (!ended_) link_.stop();
}

void ObservedAgent::take(const capture::KeptRecord& line) {
  if (ended_) return;
  const auto& data = line.record.data;
  if (!text_in(data, "subagent").empty()) return;
  if (const auto path = text_in(data, "transcript"); transcript_ && path.starts_with('/')) transcript_->follow(path);
  if (const auto pid = integer_member(data, "pid")) watch_process(static_cast<pid_t>(*pid));
  switch (line.record.kind) {
    case Kind::SessionStart: return tell_state("idle", {});
    case Kind::Prompt:
    case Kind::ToolCall:
    case Kind::ToolResult: return tell_state("active", {});
    case Kind::Permission: return tell_state("blocked", format("asks to use {}", text_in(data, "tool")));
    case Kind::RateLimited:
    case Kind::Failed: return tell_state("idle", text_in(data, "text"));
    case Kind::TurnEnd:
    case Kind::Interrupt: return tell_state("idle", {});
    case Kind::SessionEnd: return end();
    case Kind::Notification:
    case Kind::Message:
    case Kind::Note:
    case Kind::Other: return;
  }
}

void ObservedAgent::tell_state(std::string_view state, std::string_view reason) {
  state_ = state;
  reason_ = reason;
  if (!link_.ready()) return;
  protocol::JsonWriter payload;
  payload.field("state", state_).optional("reason", reason_);
  (void)link_.say(protocol::MessageType::SessionState, payload.take());
}

/// Hooks do not tell of a process that was killed.
void ObservedAgent::watch_process(pid_t pid) {
  if (pid <= 1 || pid == pid_) return;
  pid_ = pid;
  process_ended_.reset();
  process_ = UniqueFd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
  if (!process_) return end();  // it is gone already
  process_ended_ = std::make_unique<net::ReadableWatch>(loop_, process_.get(), [this] { end(); });
}

void ObservedAgent::end() {
  if (std::exchange(ended_, true)) return;
  if (transcript_) transcript_->end();
  link_.stop();
  loop_.post([this, alive = alive_] {
    if (*alive) std::exchange(on_gone_, nullptr)();
  });
}

void ObservedAgent::on_activity(const events::Event& event, WallMs at) { teller_.tell(event, at); }

void ObservedAgent::on_transcript_problem(const std::string& sentence) {
  log::info("cannot follow the transcript of an observed agent", {{"agent", name_}, {"error", sentence}});
}

void ObservedAgent::on_ready(const client::Session&) { tell_state(state_, reason_); }

void ObservedAgent::on_stopped(const Error& why) {
  log::info("an agent is not observed", {{"agent", name_}, {"error", why.message()}});
  if (std::exchange(ended_, true)) return;
  loop_.post([this, alive = alive_] {
    if (*alive) std::exchange(on_gone_, nullptr)();
  });
}

void ObservedAgent::on_told() { teller_.close_gap(loop_.now().wall); }

}  // namespace relay::observer
