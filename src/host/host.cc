#include "host/host.h"

#include <unistd.h>

#include <optional>

#include "base/format.h"
#include "client/link.h"
#include "host/adapter_bridge.h"
#include "host/agent_commands.h"
#include "host/agent_state.h"
#include "host/agent_updater.h"
#include "host/command_executor.h"
#include "host/command_feedback.h"
#include "host/control/client_requests.h"
#include "host/control/session_state.h"
#include "host/daemon_session.h"
#include "host/delivery/pipeline.h"
#include "host/event_reporter.h"
#include "host/prompts/dialog_driver.h"
#include "host/screen/agent_input.h"
#include "host/screen/agent_keys.h"
#include "host/screen/screen_monitor.h"
#include "host/screen/terminal_relay.h"
#include "host/session_end.h"
#include "profiles/registry.h"

namespace relay::host {
namespace {

constexpr pty::WindowSize kDefaultSize{.columns = 120, .rows = 40};  // without a user terminal

bool has_profile(const HostOptions& options) { return options.profile.name != profiles::kGeneric; }

/// The interfaces of an agent without native ones.
FallbackInterfaces fallback_for(const HostOptions& options) {
  if (has_profile(options)) return {};
  return {.output = adapters::via::kLines, .delivery = adapters::via::kInboxFile};
}

/// Host ids are short; the start time makes the prefix unique.
std::string request_prefix(const HostOptions& options, WallMs now) {
  return format("{}-{:x}", options.record.id, now / 1'000);
}

client::LinkOptions link_options(const HostOptions& options, const AdapterBridge& adapter) {
  client::LinkOptions link;
  link.socket_path = options.paths.workspace_socket;
  link.hello = make_hello(options.record, options.claim_token, adapter.modes());
  link.timeout = client::RetryLimit::never_give_up();
  return link;
}

}  // namespace

/// The parts of a host. Some borrow parts that are declared below them, so nothing is called before `start`.
class Host::Core {
 public:
  Core(const HostEnvironment& environment, HostOptions options)
      : loop_{environment.loop},
        options_{std::move(options)},
        adapter_{std::move(options_.adapter), request_prefix(options_, loop_.now().wall), options_.profile.dialogs.keys,
                 fallback_for(options_), !options_.record.headless},
        session_{loop_,
                 environment.network,
                 environment.random,
                 environment.outbox,
                 link_options(options_, adapter_),
                 {pipeline_, adapter_, state_, updater_, server_, reporter_, executor_, feedback_, end_}},
        pipeline_{{.state_directory = *options_.paths.state_directory,
                   .intent_file = options_.paths.intent_file,
                   .inbox = options_.paths.inbox,
                   .project_root = options_.paths.project_root,
                   .long_texts = options_.paths.long_texts},
                  options_.profile.typing,
                  {.native = adapter_.delivery_target(),
                   .composer = keys_,
                   .reports = session_,
                   .request_update = [this] { updater_.update_soon(); },
                   .view = [this] { return updater_.delivery_view(); },
                   .on_pause_lapsed = [this] { server_.on_event(pause_event({.paused = false})); }}},
        server_{loop_, environment.network, requests_} {}

  Result<void> start() {
    RELAY_TRY(pipeline_.open());
    pty::WindowSize size = kDefaultSize;
    if (!options_.detached && !options_.record.headless && options_.open_user_terminal) {
      terminal_.attach(RELAY_TRY(options_.open_user_terminal(terminal_)));
      if (terminal_.user() != nullptr) size = terminal_.user()->size();
    }
    RELAY_TRY(monitor_.open(options_.profile, size, loop_.now().steady));
    commands_.set_rows(size);
    classify_clients();
    RELAY_TRY(server_.listen(options_.paths.socket));
    end_.observe(options_.on_agent_exit, options_.on_finished);
    // The program may call the relay before its own process is recorded; the host's record names the agent.
    RELAY_TRY(write_record(0));
    terminal_.connect(RELAY_TRY(options_.start(size, terminal_)));
    RELAY_TRY(write_record(agent_pid()));
    if (terminal_.user() != nullptr) RELAY_TRY(terminal_.user()->enter_raw());
    session_.start(admission());
    adapter_.start(
        loop_, agent_pid(),
        {.output = commands_,
         .deliveries = pipeline_,
         .report_event = [this](events::Event event, WallMs at) { session_.report_event(std::move(event), at); },
         .notify_clients = [this](const std::string& event) { server_.on_event(event); },
         .on_changed = [this] { updater_.on_adapter_changed(); }});
    if (!options_.record.spawned) report_started(options_.record.host_pid);
    return {};
  }

  void release(ReleaseAgent request) { end_.release(std::move(request)); }

  void close() {
    session_.close();
    terminal_.close();
    if (!options_.paths.private_file.empty()) ::unlink(options_.paths.private_file.c_str());
    record_file_.reset();
  }

  [[nodiscard]] pid_t agent_pid() { return terminal_.program().pid(); }
  [[nodiscard]] const pty::ExitStatus& status() const { return end_.status(); }
  [[nodiscard]] const std::string& error() const { return session_.error(); }

 private:
  void classify_clients() {
    if (!options_.classify_peer) return;
    server_.classify_by([this](const net::Peer& peer) {
      // The daemon checks its own callers, and it may have been started inside an agent.
      if (peer.pid > 0 && peer.pid == session_.daemon_pid()) return protocol::daemon_origin();
      auto origin = options_.classify_peer(peer);
      // The agent may call a hook before the record is written.
      if (origin.is_agent() && origin.agent.empty() && origin.host_socket == options_.paths.socket)
        origin.agent = options_.record.name;
      return origin;
    });
  }

  Result<void> write_record(pid_t agent) {
    auto& record = options_.record;
    set_processes(record, ::getpid(), agent);
    record.profile = options_.profile.name;
    record.socket = options_.paths.socket;
    record.started_at = loop_.now().wall;
    if (record_file_) return record_file_->update(record);
    record_file_.emplace(RELAY_TRY(RecordFile::write(options_.paths.records, record)));
    return {};
  }

  /// A spawned agent that is not admitted is ended; any other continues without the relay.
  DaemonSession::OnAdmitted admission() {
    if (!options_.record.spawned) return {};
    return [this](const Result<void>& admitted) {
      if (admitted) return report_started(options_.record.host_pid);
      report_started(Failure{admitted.error()});
    };
  }

  void report_started(Result<pid_t> outcome) {
    if (auto started = std::exchange(options_.on_started, nullptr)) started(std::move(outcome));
  }

  void set_backpressure(bool active) {
    terminal_.set_backpressure(active);
    server_.on_backpressure(active);
  }

  net::EventLoop& loop_;
  HostOptions options_;
  ScreenMonitor monitor_{kDefaultSize};
  AgentInput input_{[this](bool active) { set_backpressure(active); }};
  AgentKeys keys_{monitor_.screen(), input_, options_.profile.typing};
  AdapterBridge adapter_;
  DaemonSession session_;
  AgentState state_{monitor_, adapter_, session_, options_.record.headless};
  EventReporter reporter_{session_.link(), options_.record.name};
  CommandFeedback feedback_{loop_, options_.record.name, has_profile(options_), server_, pipeline_, updater_};
  CommandExecutor executor_{session_.link(), {options_.paths.project_root, options_.paths.outgoing}, feedback_};
  AgentCommands commands_{loop_, executor_, !has_profile(options_)};
  DeliveryPipeline pipeline_;
  DialogDriver answers_{adapter_, options_.profile, [this](const terminal::Key& key) { keys_.press(key); }};
  ClientRequests requests_{loop_,
                           options_.profile,
                           {options_.record, monitor_, state_, input_, commands_, adapter_, pipeline_, answers_,
                            reporter_, session_, terminal_, updater_, end_}};
  HostServer server_;
  AgentUpdater updater_{
      loop_,
      TerminalNotifier{options_.notice, options_.record.name},
      has_profile(options_),
      {monitor_, state_, input_, commands_, adapter_, pipeline_, answers_, session_, server_, terminal_, end_}};
  SessionEnd end_{loop_,
                  options_.record.name,
                  options_.paths.records,
                  {terminal_, updater_, commands_, adapter_, answers_, pipeline_, server_, session_, executor_}};
  TerminalRelay terminal_{loop_, {monitor_, input_, commands_, answers_, server_, updater_, end_}};
  std::optional<RecordFile> record_file_;
};

Host::Host(const HostEnvironment& environment, HostOptions options)
    : core_{std::make_unique<Core>(environment, std::move(options))} {}
Host::~Host() = default;

Result<void> Host::start() { return core_->start(); }
void Host::release(ReleaseAgent request) { core_->release(std::move(request)); }
void Host::close() { core_->close(); }
pid_t Host::agent_pid() const { return core_->agent_pid(); }
const pty::ExitStatus& Host::status() const { return core_->status(); }
const std::string& Host::error() const { return core_->error(); }

}  // namespace relay::host
