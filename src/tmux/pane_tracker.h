/// Follows the pane with one control client, attached to whichever session the pane is in.
///
/// Why: control mode reports only the panes of the session a client is attached to. The user may detach clients
///   (`attach -d`), move the pane into another session (`join-pane`), or kill it. So when windows appear or disappear
///   the tracker checks whether the pane is still among them; if it is not, or the client is detached, the tracker
///   finds the pane and attaches again.
/// Invariants
/// - While `is_attached()`, every byte of the pane comes by `on_output`, once and in order. A capture of the screen
/// replaces missed output. Between the pane's move and the notice of it, output is missed without our knowledge.
/// - In the session we created the tracker requests our size. In any other it requests none: there the client does not
/// count for sizes, and it attaches by the session's id, because attaching by the pane's id would change the user's
/// current pane.
/// - `on_lost` is final: the pane is closed, its server has ended, or the client was detached too often.
/// Ownership: borrows loop, session and listener, which outlive it; it may use and replace the session's client.
///   `hold()` keeps them alive through a turn in which the listener may release everything.
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
  virtual void on_output_bytes(const PaneOutput& output) = 0;
  /// In place of missed output: bytes that draw the screen.
  virtual void on_capture(std::string bytes) = 0;
  virtual void on_pane_size(pty::WindowSize size) = 0;
  /// All output of this turn has been delivered.
  virtual void on_turn_done() = 0;
  /// `is_attached()` changed. When it became false, no replies come to earlier commands.
  virtual void on_attach_changed() = 0;
  virtual void on_lost() = 0;
};

class PaneTracker final : private ControlListener {
 public:
  PaneTracker(net::AsioLoop& loop, TmuxSession& session, pty::WindowSize size, PaneTrackerListener& listener);
  ~PaneTracker() override;
  PaneTracker(const PaneTracker&) = delete;
  PaneTracker& operator=(const PaneTracker&) = delete;

  void start();
  [[nodiscard]] bool is_attached() const { return state_ == AttachState::Attached; }
  /// Sends one command. The reply comes while attached.
  void send(std::string_view line, ControlClient::OnResponse on_reply = {});
  /// Enables reading. tmux blocks while its output is not read.
  void read(bool wanted);
  void request_size(pty::WindowSize size);
  /// Checks whether the pane is still in the session we are attached to. Not every move is announced.
  void check_pane();

  /// Ends the tracking: `on_lost` follows when tmux has closed the connection.
  void detach();
  /// The listener gets no more calls.
  void stop();

 private:
  enum class AttachState : std::uint8_t { Attached, Leaving, Searching, Attaching, Lost };

  void watch_client();
  void read_turn();
  void write_turn();
  void on_pane_output(const PaneOutput& output) override;
  void on_notice(std::string_view name, std::string_view rest) override;
  void on_skipped_line() override;
  void set_state(AttachState state);
  void leave();
  void on_client_closed();
  void search();
  void attach();
  void lose();
  void capture_pane();
  void update_size();

  net::AsioLoop& loop_;
  TmuxSession& session_;
  PaneTrackerListener& listener_;
  AttachState state_ = AttachState::Attached;
  bool reading_ = true;
  bool checking_ = false;  // the pending reply is newer than all notices so far
  bool detached_ = false;
  bool stopped_ = false;

  std::string session_id_;  // the id of the session the client is attached to
  SteadyTime attached_at_{};
  int detach_count_ = 0;

  pty::WindowSize size_;
  std::size_t pending_sizes_ = 0;
  std::size_t pending_captures_ = 0;
  std::string cursor_;
  std::unique_ptr<net::DescriptorWatch> watch_;
};

}  // namespace relay::tmux
