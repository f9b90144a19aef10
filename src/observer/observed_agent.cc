#include "observer/observed_agent.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/format.h"
#include "base/hash.h"
#include "base/log.h"
#include "client/claim_token.h"
#include "host/control/session_state.h"
#include "protocol/names.h"
#include "text/json_writer.h"

namespace relay::observer {
namespace {

using capture::RecordKind;
using profiles::State;

constexpr std::size_t kNameDigits = 4;
constexpr std::string_view kInboxCapabilities = R"({"delivery":{"on-idle":"inbox"},"proof":"seen"})";
constexpr std::uint32_t kMaxUnsettled = 64;
constexpr Millis kInboxCheckInterval{1'000};  // for an inbox that appears after the first hook, or refused a text
constexpr int kMaxInboxChecks = 10;

/// The key of its files: a session has one name in each workspace.
std::string key_of(const std::string& socket, const capture::Source& source) {
  return sha256_hex(source.session + "\n" + socket).substr(0, 16);
}

/// The claim on its name, so that no other agent gets its messages after a restart of the daemon.
std::string claim_of(Directory* notes, const std::string& key, Random& random) {
  if (notes == nullptr) return {};
  auto claim = client::load_or_create_claim_token(*notes, key + ".claim", random);
  if (claim) return *std::move(claim);
  log::warn("cannot claim the name of an observed agent", {{"error", claim.error().message()}});
  return {};
}

client::LinkOptions link_options(const std::string& socket, const std::string& name, const capture::Source& source,
                                 std::string claim) {
  client::LinkOptions options;
  options.socket_path = socket;
  options.hello.agent = name;
  options.hello.cli = source.agent;
  options.hello.program = protocol::kObserverProgram;
  options.hello.working_directory = source.working_directory;
  options.hello.claim_token = std::move(claim);
  options.hello.capabilities.modes = protocol::DeliveryModes{};  // SESSION_STATE adds that of its inbox
  options.hello.capabilities.max_inflight = kMaxUnsettled;
  options.hello.capabilities.queue = true;
  options.hello.capabilities.pause = true;
  options.timeout = client::RetryLimit::never_give_up();
  return options;
}

std::string read_string(const json::object& data, std::string_view name) {
  return string_member(data, name).value_or("");
}

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
                             const capture::Source& source, Directory* notes, std::move_only_function<void()> on_ended)
    : loop_{loop},
      name_{observed_name(source)},
      on_ended_{std::move(on_ended)},
      outbox_{client::Numbering::RandomIds, {}, random},
      link_{loop,
            network,
            random,
            outbox_,
            link_options(workspace_socket, name_, source, claim_of(notes, key_of(workspace_socket, source), random)),
            *this},
      event_reporter_{link_, name_} {
  if (const auto reader = transcript_reader(source.agent))
    transcript_.reset(new adapters::TranscriptFollower{loop, reader, *this});
  if (source.agent == "claude" && notes != nullptr) {
    inbox_ = std::make_unique<ObservedInbox>(
        loop, link_, *notes, key_of(workspace_socket, source) + ".intent", source.session, [this] {
          report_state();
          recheck_timer_ = loop_.after(kInboxCheckInterval, [this] { find_inbox(); });
        });
  }
  link_.start();
}

ObservedAgent::~ObservedAgent() {
  lifetime_.end();
  if (!ended_) link_.stop();
}

void ObservedAgent::take(const capture::TimedRecord& line) {
  if (ended_) return;
  const auto& data = line.record.data;
  if (!read_string(data, "subagent").empty()) return;
  if (const auto path = read_string(data, "transcript"); transcript_ && path.starts_with('/'))
    transcript_->follow(path);
  if (const auto pid = integer_member(data, "pid")) watch_process(static_cast<pid_t>(*pid));
  inbox_checks_ = 0;
  find_inbox();
  switch (line.record.kind) {
    case RecordKind::SessionStart: return write_state(State::Idle, {});
    case RecordKind::Prompt:
    case RecordKind::ToolCall:
    case RecordKind::ToolResult: return write_state(State::Working, {});
    case RecordKind::Permission:
      return write_state(State::Blocked, format("asks to use {}", read_string(data, "tool")));
    case RecordKind::RateLimited:
    case RecordKind::Failed: return write_state(State::Idle, read_string(data, "text"));
    case RecordKind::TurnEnd:
    case RecordKind::Interrupt: return write_state(State::Idle, {});
    case RecordKind::SessionEnd: return end();
    case RecordKind::Notification:
    case RecordKind::Message:
    case RecordKind::Note:
    case RecordKind::Other: return;
  }
}

/// Claude Code announces its inbox shortly after the first hook.
void ObservedAgent::find_inbox() {
  recheck_timer_ = nullptr;
  if (!inbox_ || !transcript_ || ended_) return;
  if (inbox_->find(claude_config_of(transcript_->path()), pid_)) report_state();
  if (!inbox_->is_open() && ++inbox_checks_ < kMaxInboxChecks)
    recheck_timer_ = loop_.after(kInboxCheckInterval, [this] { find_inbox(); });
}

void ObservedAgent::write_state(State state, std::string_view reason) {
  state_ = state;
  reason_ = reason;
  if (inbox_) inbox_->set_state(state);
  report_state();
}

void ObservedAgent::report_state() {
  if (!link_.ready()) return;
  const bool open = inbox_ && inbox_->is_open();
  protocol::DeliveryModes modes;
  if (open) modes.add(protocol::DeliveryMode::OnIdle);
  (void)link_.send_frame(protocol::MessageType::SessionState,
                         host::session_state(state_, false, reason_, open ? kInboxCapabilities : "{}", modes));
}

/// Hooks do not report a killed process.
void ObservedAgent::watch_process(pid_t pid) {
  if (pid <= 1 || pid == pid_) return;
  pid_ = pid;
  process_ended_.reset();
  process_ = UniqueFd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
  if (!process_) return end();  // the process has ended already
  process_ended_ = std::make_unique<net::ReadableWatch>(loop_, process_.get(), [this] { end(); });
}

void ObservedAgent::end() {
  if (std::exchange(ended_, true)) return;
  recheck_timer_ = nullptr;
  if (transcript_) transcript_->end();
  if (inbox_) inbox_->on_agent_exit();
  link_.stop();
  loop_.post([this, alive = lifetime_.watch()] {
    if (alive) std::exchange(on_ended_, nullptr)();
  });
}

void ObservedAgent::on_activity(const events::Event& event, WallMs at) { event_reporter_.report(event, at); }

void ObservedAgent::on_transcript_error(const std::string& sentence) {
  log::info("cannot follow the transcript of an observed agent", {{"agent", name_}, {"error", sentence}});
}

void ObservedAgent::on_transcript_removed() {
  log::info("the transcript of an observed agent was removed", {{"agent", name_}, {"transcript", transcript_->path()}});
}

void ObservedAgent::on_ready(const client::Session&) {
  if (inbox_) inbox_->on_connected();
  report_state();
}

void ObservedAgent::on_entry(const transcripts::Entry& entry) {
  const auto* input = std::get_if<transcripts::ModelInput>(&entry);
  if (inbox_ && input != nullptr) inbox_->on_model_input(input->text, input->id);
  // Escape calls no hook.
  const auto* end = std::get_if<transcripts::TurnEnded>(&entry);
  if (end != nullptr && end->outcome == transcripts::TurnOutcome::Interrupted && state_ != State::Idle)
    write_state(State::Idle, {});
}

client::AckMode ObservedAgent::on_incoming(const client::IncomingMessage& incoming) {
  if (inbox_) inbox_->on_incoming(incoming);
  return client::AckMode::Later;
}

void ObservedAgent::on_moved(const client::DeliveryRef& ref, protocol::DeliveryMode mode) {
  if (inbox_) inbox_->on_moved(ref, mode);
}

bool ObservedAgent::on_cancel(const protocol::CancelCommand& command) { return inbox_ && inbox_->on_cancel(command); }

void ObservedAgent::on_pause(const protocol::PauseCommand& command) {
  if (inbox_) inbox_->on_pause(command);
}

void ObservedAgent::on_stopped(const Error& why) {
  log::info("cannot observe an agent", {{"agent", name_}, {"error", why.message()}});
  if (std::exchange(ended_, true)) return;
  loop_.post([this, alive = lifetime_.watch()] {
    if (alive) std::exchange(on_ended_, nullptr)();
  });
}

void ObservedAgent::on_event_acked() { event_reporter_.report_gap(loop_.now().wall); }

}  // namespace relay::observer
