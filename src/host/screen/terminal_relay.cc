#include "host/screen/terminal_relay.h"

#include "host/agent_commands.h"
#include "host/agent_updater.h"
#include "host/control/host_server.h"
#include "host/prompts/dialog_driver.h"
#include "host/screen/agent_input.h"
#include "host/screen/screen_monitor.h"
#include "host/session_end.h"
#include "terminal/render.h"

namespace relay::host {

void TerminalRelay::connect(std::unique_ptr<pty::Program> program) {
  program_ = std::move(program);
  parts_.input.connect(*program_);
}

void TerminalRelay::on_output(std::string_view bytes) {
  if (user_) show_to_user(bytes);
  feeding_ = true;
  parts_.monitor.feed(bytes, [this] { parts_.updater.update(); });
  feeding_ = false;
  parts_.server.on_output(bytes);
  answer_queries();
  const auto& screen = parts_.monitor.screen();
  if (user_ && screen.modes() != restored_modes_) {
    restored_modes_ = screen.modes();
    (void)user_->set_restore_bytes(terminal::restore_sequence(screen));
  }
  parts_.commands.on_output(bytes);
  parts_.updater.update_paced();
}

void TerminalRelay::show_to_user(std::string_view bytes) {
  user_->write(bytes);
  if (!user_->wants_pause()) return;
  program_->pause_output();
  output_paused_ = true;
}

void TerminalRelay::answer_queries() {
  for (const auto& report : parts_.monitor.screen().take_reports())
    if (const auto* seen = std::get_if<terminal::QueryReceived>(&report)) reply_to(seen->query);
}

/// The user's terminal replies to queries itself, except for the program status, which only the host reads.
void TerminalRelay::reply_to(const terminal::TerminalQuery& query) {
  const bool has_terminal = user_ || program_->answers_queries();
  if (has_terminal && query.kind != terminal::QueryKind::ProgramStatus) return;
  parts_.input.write(terminal::reply_to_query(query, parts_.monitor.screen().size()));
}

void TerminalRelay::on_input_written(std::size_t) {
  parts_.input.on_writable();
  if (parts_.answers.is_active() && parts_.input.empty()) parts_.updater.update_soon();
}

void TerminalRelay::on_exit(const pty::ExitStatus& status) { parts_.end.on_exit(status); }

void TerminalRelay::on_written(std::size_t bytes_left) {
  if (bytes_left > 0) return;
  program_->resume_output();
  if (!std::exchange(output_paused_, false)) return;
  parts_.monitor.restart_timer(loop_.now().steady);
  parts_.updater.update();
}

void TerminalRelay::on_continued() {
  user_->write(terminal::render(parts_.monitor.screen()));
  (void)program_->resize(user_->size());
}

void TerminalRelay::on_closed(const std::string&) { parts_.end.release({.reason = "its terminal was closed"}); }

void TerminalRelay::on_program_resized(pty::WindowSize size) {
  parts_.monitor.resize(size);
  show_resized(size);
}

void TerminalRelay::resize(pty::WindowSize size) {
  if (!parts_.monitor.resize(size)) return;
  (void)program_->resize(size);
  show_resized(size);
}

void TerminalRelay::show_resized(pty::WindowSize size) {
  parts_.commands.set_rows(size);
  parts_.server.on_resized();
  parts_.updater.update();
}

void TerminalRelay::type(std::string_view bytes) {
  parts_.updater.update_if_paced();  // the user may have seen this output
  if (program_->may_echo()) parts_.commands.on_echoed_keys(bytes);
  parts_.input.on_user_input(bytes, loop_.now().steady);
  parts_.updater.update();
}

void TerminalRelay::set_backpressure(bool active) {
  if (user_) active ? user_->pause_typing() : user_->resume_typing();
}

}  // namespace relay::host
