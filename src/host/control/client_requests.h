/// Executes the requests of host socket clients.
///
/// Ownership: borrows its parts, which outlive it. Threading: loop thread only.
#pragma once

#include "base/lifetime.h"
#include "host/control/host_record.h"
#include "host/control/host_server.h"
#include "host/control/status_report.h"
#include "net/event_loop.h"
#include "profiles/profile.h"

namespace relay::host {

class AgentCommands;
class AgentState;
class AgentUpdater;
class DaemonSession;
class DialogDriver;
class SessionEnd;
class TerminalRelay;

class ClientRequests final : public HostService {
 public:
  struct Parts {
    HostRecord& record;
    ScreenMonitor& monitor;
    AgentState& state;
    AgentInput& input;
    AgentCommands& commands;
    AdapterBridge& adapter;
    DeliveryPipeline& pipeline;
    DialogDriver& answers;
    EventReporter& reporter;
    DaemonSession& session;
    TerminalRelay& terminal;
    AgentUpdater& updater;
    SessionEnd& end;
  };
  ClientRequests(net::EventLoop& loop, const profiles::Profile& profile, Parts parts)
      : loop_{loop}, profile_{profile}, parts_{parts} {}

  [[nodiscard]] const std::string& agent() const override { return parts_.record.name; }
  [[nodiscard]] const terminal::Screen& screen() const override;
  void describe(text::JsonWriter& answer) const override;
  void describe_state(text::JsonWriter& answer) const override;
  void explain(text::JsonWriter& answer) const override;
  void describe_prompts(text::JsonWriter& answer) const override;
  [[nodiscard]] std::string no_terminal_reason() const override;

  void client_input(std::string_view bytes) override;
  void client_interrupt() override { client_input(profile_.typing.interrupt); }
  void client_text(const std::string& text, OnDone done) override;
  void client_resize(pty::WindowSize size) override;
  void client_release(const ReleaseAgent& request) override;

  void hook_called(const hooks::HookEvent& event, std::uint64_t call, adapters::Adapter::HookReply reply) override;
  void hook_disconnected(std::uint64_t call) override;
  void fetch_messages(const FetchMessages& request, text::JsonWriter& answer) override;
  void answer_prompt(const AnswerPrompt& request, OnDone done) override;
  void show_dialog(const std::string& prompt) override;

 private:
  [[nodiscard]] HostStatus status() const;

  net::EventLoop& loop_;
  const profiles::Profile& profile_;
  Parts parts_;
  Lifetime lifetime_;
};

}  // namespace relay::host
