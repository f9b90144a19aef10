#include "host/agent_updater.h"

#include <algorithm>

#include "host/adapter_bridge.h"
#include "host/agent_commands.h"
#include "host/agent_state.h"
#include "host/control/host_server.h"
#include "host/daemon_session.h"
#include "host/screen/screen_monitor.h"
#include "host/screen/terminal_relay.h"
#include "host/session_end.h"
#include "text/utf8.h"

namespace relay::host {

using profiles::State;

void AgentUpdater::update() {
  pace_timer_ = nullptr;
  auto& monitor = parts_.monitor;
  const bool was_idle = monitor.state() == State::Idle || monitor.state() == State::Typing;
  const auto observations = monitor.update(now());
  bool changed = false;
  for (const auto& observation : observations) {
    if (std::holds_alternative<profiles::StateChanged>(observation)) {
      parts_.adapter.on_state(monitor.state());
      changed = true;
    }
  }
  if (monitor.state() != State::Unknown && !monitor.watcher().mid_frame() && !parts_.terminal.is_feeding())
    parts_.adapter.on_window_title(monitor.screen().title(), monitor.watcher().analysis().start_page);
  prompt_due_ = parts_.adapter.on_screen(monitor.state(), monitor.watcher().analysis().findings, loop_.now());
  if (parts_.state.update(now()) || (changed && !parts_.state.is_held_back(now()))) {
    parts_.session.mark_state_changed();
    parts_.server.on_state();
  }
  for (const auto& observation : observations) observe(observation);
  if (was_idle && monitor.state() == State::Working) parts_.commands.start_turn();
  notify_user();
  deliver();
  parts_.session.report_changes();
}

void AgentUpdater::on_adapter_changed() {
  if (parts_.end.has_exited()) return;
  parts_.session.mark_state_changed();  // reported after the update, with what is pending then and why
  if (!parts_.state.is_held_back(now())) parts_.server.on_state();
  update_soon();
}

void AgentUpdater::update_soon() {
  loop_.post([this, alive = lifetime_.watch()] {
    if (alive) update();
  });
}

void AgentUpdater::update_paced() {
  if (now() >= parts_.monitor.due()) return update();
  if (!pace_timer_) pace_timer_ = loop_.at(parts_.monitor.due(), [this] { update(); });
}

void AgentUpdater::update_if_paced() {
  if (pace_timer_) update();
}

void AgentUpdater::finish() {
  update();
  for (const auto& observation : parts_.monitor.watcher().finish()) observe(observation);
}

void AgentUpdater::observe(const profiles::Observation& observation) {
  const auto can = parts_.adapter.capabilities();
  if (const auto* seen = std::get_if<profiles::CommandSeen>(&observation)) {
    const bool replaces_transcript = can.output.empty() && !can.output_expected;
    parts_.commands.on_screen(seen->command, replaces_transcript);
  } else if (const auto* usage = std::get_if<profiles::ScreenUsage>(&observation)) {
    if (can.usage.empty() && !can.output_expected) report_usage(*usage);
  }
}

/// Tokens on the screen, where no native interface reports usage. They are running totals, so the last one replaces the
/// others.
void AgentUpdater::report_usage(const profiles::ScreenUsage& usage) {
  if (!usage.input_tokens && !usage.output_tokens) return;
  parts_.session.report_event(events::TokensUsed{.model = std::string{text::truncate_utf8(usage.model, 256)},
                                                 .input_tokens = usage.input_tokens.value_or(0),
                                                 .output_tokens = usage.output_tokens.value_or(0),
                                                 .cache_read_tokens = usage.cached_tokens,
                                                 .estimated_cost_usd = usage.cost_dollars,
                                                 .request_id = std::string{adapters::via::kScreen},
                                                 .source = std::string{adapters::via::kScreen}},
                              loop_.now().wall);
}

/// Writes only between two escape sequences of the agent; otherwise with the next update.
void AgentUpdater::notify_user() {
  notify_due_.reset();
  auto* const user = parts_.terminal.user();
  if (user == nullptr || parts_.end.has_exited() || !parts_.monitor.screen().in_ground_state()) return;
  if (const auto& rule = parts_.adapter.approving_rule(); !rule.empty()) notifier_.note_approval(rule);
  const auto notification = notifier_.notification(parts_.adapter.unanswered(), now());
  if (!notification.empty()) user->write(notification);
  notify_due_ = notifier_.due();
}

void AgentUpdater::schedule(std::optional<SteadyTime> at) {
  const bool exited = parts_.end.has_exited();
  const auto keys_due = exited ? std::nullopt : parts_.input.due();  // held keys are dropped with the program
  for (const auto due : {parts_.monitor.watcher().next_update_at(), prompt_due_, answer_due_, notify_due_, keys_due,
                         parts_.session.storing_until(now())})
    if (due) at = at ? std::min(*at, *due) : *due;
  timer_ = at ? loop_.at(*at, [this] { update(); }) : nullptr;
}

DeliveryPipeline::View AgentUpdater::delivery_view() {
  const auto& monitor = parts_.monitor;
  return {.now = now(),
          .wall = loop_.now().wall,
          .state = parts_.state.current(),
          .screen = monitor.state(),
          .blocker = parts_.state.blocker(),
          .since = monitor.since(),
          .typing = parts_.input.typing(),
          .composer = &monitor.watcher().analysis().composer,
          .revision = monitor.screen().revision(),
          .keys = parts_.input.held(now()),
          .drained = parts_.input.empty(),
          .takes_lines = monitor.screen().modes().bracketed_paste,
          .can = parts_.adapter.capabilities(),
          .typed_into = is_typed_into_};
}

DialogDriver::View AgentUpdater::answer_view() const {
  const auto& monitor = parts_.monitor;
  const bool blocked = monitor.state() == State::Blocked;
  return {.now = now(),
          .dialog = blocked ? &monitor.watcher().analysis().findings : nullptr,
          .since = monitor.since(),
          .typed = parts_.input.typing().any,
          .steady = parts_.input.empty() && !monitor.watcher().mid_frame() && !parts_.terminal.is_output_paused() &&
                    !parts_.terminal.is_feeding()};
}

/// Keys that were pressed before a dialog was drawn do not answer it.
KeyHold AgentUpdater::keys_to_hold() const {
  return key_hold({.state = parts_.state.current(),
                   .blocker = parts_.state.blocker(),
                   .screen = parts_.monitor.state(),
                   .mid_frame = parts_.monitor.watcher().mid_frame(),
                   .message_unsent = parts_.pipeline.holds_keys(),
                   .overtaken = parts_.input.overtaken()});
}

void AgentUpdater::deliver() {
  answer_due_.reset();
  const auto& watcher = parts_.monitor.watcher();
  if (parts_.end.has_exited()) return schedule({});
  if (watcher.mid_frame() || parts_.terminal.is_output_paused()) {
    parts_.input.hold(keys_to_hold(), now(), watcher.covered_since());
    return schedule({});
  }
  if (!parts_.input.empty() && !parts_.pipeline.is_injecting() && !parts_.answers.is_active())
    parts_.input.extend_typing(now());
  answer_due_ = parts_.answers.update(answer_view());
  const auto due = parts_.pipeline.deliver(delivery_view());
  if (parts_.input.hold(keys_to_hold(), now(), watcher.covered_since())) update_soon();
  schedule(due);
}

}  // namespace relay::host
