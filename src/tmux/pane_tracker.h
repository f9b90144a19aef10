/// Our view of the pane: one control client, attached to whichever session the pane is in.
///
/// Why: control mode tells only of the panes of the session a client is attached to. A person may throw clients out
///   (`attach -d`), move the pane into a session of their own (`join-pane`), or kill it. So when windows come and go we
///   ask whether the pane is still among them; when it is not, or the client has gone, we look for it and attach anew.
/// Invariants
/// - While `sees()`, every byte of the pane comes by `on_seen`, once and in order. Whatever was missed is replaced by a
///   picture of the screen as it is. Between the pane's going and our hearing of it we see nothing and do not know it.
/// - The session we made gets the size we wish. In any other we wish for nothing: the client counts for no size there,
///   and attaches by the session's id, for by the pane's it would make it the current one under a person's eyes.
/// - `on_view_lost` is for good: the pane or its server is gone, or we were thrown out again and again.
/// Ownership: borrows loop, session and listener, which outlive it; the session's client is its to use and replace.
///   `hold()` keeps them through a turn in which the listener may let go of all.
/// Threading: loop thread only.
#pragma once

#include <memory>
#include <string>

#include "tmux/tmux_session.h"

namespace relay::net {
class AsioLoop;
class DescriptorWatch;
}  // namespace relay::net

namespace relay::tmux {

class PaneTrackerListener {
 public:
  virtual ~PaneTrackerListener() = default;
  virtual std::shared_ptr<void> hold() = 0;
  virtual void on_seen(const PaneOutput& output) = 0;
  /// In place of what was missed: bytes that draw the screen.
  virtual void on_capture(std::string bytes) = 0;
  virtual void on_view_size(pty::WindowSize size) = 0;
  /// All that came in this turn has been told.
  virtual void on_turn_over() = 0;
  /// `sees()` is not what it was. When it is false no answer comes to what was said before.
  virtual void on_attach_changed() = 0;
  virtual void on_view_lost() = 0;
};

class PaneTracker final : private ControlListener {
 public:
  PaneTracker(net::AsioLoop& loop, TmuxSession& session, pty::WindowSize size, PaneTrackerListener& listener);
  ~PaneTracker() override;
  PaneTracker(const PaneTracker&) = delete;
  PaneTracker& operator=(const PaneTracker&) = delete;

  void start();
  [[nodiscard]] bool is_attached() const { return sight_ == AttachState::Here; }
  /// One command. The answer comes while the view sees.
  void say(std::string_view line, ControlClient::OnResponse on_answer = {});
  /// tmux waits with what it has to say while nobody reads.
  void read(bool wanted);
  void wish_for(pty::WindowSize size);
  /// Asks whether the pane is still in the session we are attached to. Not everything that moves it is announced.
  void look();

  /// No more output, and no coming back: `on_view_lost` follows when tmux has closed the conversation.
  void detach();
  /// Nothing is told any more.
  void stop();

 private:
  enum class AttachState : std::uint8_t { Here, Leaving, Searching, Attaching, Lost };

  void watch_client();
  void read_turn();
  void write_turn();
  void on_pane_output(const PaneOutput& output) override;
  void on_notice(std::string_view name, std::string_view rest) override;
  void on_skipped_line() override;
  void become(AttachState sight);
  void leave();
  void client_left();
  void search();
  void attach();
  void lose();
  void capture_pane();
  void ask_for_size();

  net::AsioLoop& loop_;
  TmuxSession& session_;
  PaneTrackerListener& listener_;
  AttachState sight_ = AttachState::Here;
  bool reading_ = true;
  bool looking_ = false;  // the answer to come is newer than all we have heard
  bool parted_ = false;
  bool stopped_ = false;

  std::string place_;  // the id of the session the client is attached to
  SteadyTime attached_at_{};
  int quarrels_ = 0;

  pty::WindowSize size_;
  std::size_t sizes_awaited_ = 0;
  std::size_t pictures_awaited_ = 0;
  std::string cursor_;
  std::unique_ptr<net::DescriptorWatch> watch_;
};

}  // namespace relay::tmux
