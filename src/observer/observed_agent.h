/// One agent that was started without agent-relay, observed via its hooks and transcript: a session of its workspace.
///
///     captured lines ─▶ state, transcript, end ┐
///     transcript ─▶ item.*, tokens.used, …     ├─▶ Link ─▶ daemon
///     its process ─▶ end                       ┘
///
/// Nothing is typed or answered. Messages are delivered if its CLI has an inbox (observed_inbox.h).
/// Invariants: events come from lines written while it is observed. It ends once: with its `session_end`, its process,
///   or when the daemon refuses its name; `on_ended` is then posted, never called inside another call.
/// Ownership: owns its link; borrows loop, network and random, which outlive it. Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "adapters/transcript_follower.h"
#include "base/lifetime.h"
#include "base/random.h"
#include "base/unique_fd.h"
#include "capture/record.h"
#include "client/link.h"
#include "host/event_reporter.h"
#include "net/readable_watch.h"
#include "observer/observed_inbox.h"

namespace relay::observer {

/// The transcript reader of an agent CLI; null for an unsupported one.
adapters::TranscriptFollower::MakeReader transcript_reader(std::string_view agent);

/// `claude-4f2a`: the agent CLI and the start of its session id.
std::string observed_name(const capture::Source& source);

class ObservedAgent final : private client::LinkListener, private adapters::TranscriptListener {
 public:
  ObservedAgent(net::AsioLoop& loop, net::Network& network, Random& random, std::string workspace_socket,
                const capture::Source& source, Directory* notes, std::move_only_function<void()> on_ended);
  ~ObservedAgent() override;
  ObservedAgent(const ObservedAgent&) = delete;
  ObservedAgent& operator=(const ObservedAgent&) = delete;

  /// The next captured line of its session.
  void take(const capture::TimedRecord& line);

 private:
  void write_state(profiles::State state, std::string_view reason);
  void report_state();
  void find_inbox();
  void watch_process(pid_t pid);
  void end();

  void on_entry(const transcripts::Entry& entry) override;
  void on_activity(const events::Event& event, WallMs at) override;
  void on_transcript_error(const std::string& sentence) override;
  void on_transcript_removed() override;

  void on_ready(const client::Session& session) override;
  void on_lost(const std::string&, Millis) override {}
  void on_stopped(const Error& why) override;
  client::AckMode on_incoming(const client::IncomingMessage& incoming) override;
  void on_moved(const client::DeliveryRef& ref, protocol::DeliveryMode mode) override;
  bool on_cancel(const protocol::CancelCommand& command) override;
  void on_pause(const protocol::PauseCommand& command) override;
  void on_sent(const std::string&) override {}
  void on_refused(const std::string&, const protocol::Nack&) override {}
  void on_event_acked() override;
  void on_frame(const protocol::Envelope&) override {}

  net::AsioLoop& loop_;
  std::string name_;
  std::move_only_function<void()> on_ended_;
  profiles::State state_ = profiles::State::Unknown;
  std::string reason_;
  bool ended_ = false;
  client::Outbox outbox_;
  client::Link link_;
  host::EventReporter event_reporter_;
  std::unique_ptr<adapters::TranscriptFollower> transcript_;
  std::unique_ptr<ObservedInbox> inbox_;  // null for a CLI without an inbox
  std::unique_ptr<net::Timer> recheck_timer_;
  int inbox_checks_ = 0;  // since its last hook
  pid_t pid_ = 0;
  UniqueFd process_;
  std::unique_ptr<net::ReadableWatch> process_ended_;
  Lifetime lifetime_;
};

}  // namespace relay::observer
