/// The hosts of one project: starts them, finds them by their records and calls their sockets.
///
/// Why it keeps no list of running hosts: they outlive the daemon, so only the records in `hosts/` are correct after a
///   restart too (docs/spec/host.md).
/// Invariants: at most kMaxHosts hosts run for other agents; only those are stopped or typed into from here, never an
///   agent in the user's own terminal, although its prompts are answered; names match exactly; input for one agent is
///   typed in order; no request calls more than one host.
/// Ownership: borrows loop, network and launcher, which outlive it. Threading: loop thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "base/lifetime.h"
#include "config/paths.h"
#include "daemon/host_launcher.h"
#include "daemon/host_manager.h"
#include "host/control/host_call.h"
#include "host/control/host_record.h"
#include "host/prompts/dialog_answer.h"
#include "net/event_loop.h"
#include "net/stream.h"

namespace relay::daemon {

inline constexpr std::size_t kMaxHosts = 256;
inline constexpr Millis kReleaseTimeout{13'000};  // the broker then waits briefly for the end of its session
inline constexpr Millis kTypeTimeout{5'000};
inline constexpr Millis kAnswerTimeout{8'000};
static_assert(kAnswerTimeout > host::kMaxAnswerTime);

class LocalHostManager final : public HostManager {
 public:
  LocalHostManager(const config::Home& home, const config::Project& project, net::EventLoop& loop,
                   net::Network& network, HostLauncher& launcher);
  ~LocalHostManager() override;
  LocalHostManager(const LocalHostManager&) = delete;
  LocalHostManager& operator=(const LocalHostManager&) = delete;

  void start(broker::HostSpec spec, Started done) override;
  void release(const std::string& name, const broker::Release& release, Done done) override;
  void type(const std::string& name, std::string data, Done done) override;
  void list(Listed done) override;
  void answer(broker::AnswerPrompt answer, Done done) override;
  void show_dialog(const std::string& agent, const std::string& request) override;
  std::vector<protocol::EndedSession> ended_sessions() override;
  void forget_ended_session(const SessionId& session) override;

 private:
  struct QueuedInput {
    std::string data;
    Done done;
    std::size_t typed = 0;  // of data
  };

  Result<HostCommand> command_for(const broker::HostSpec& spec) const;
  [[nodiscard]] Result<host::HostRecord> find(const std::string& name) const;
  [[nodiscard]] Result<host::HostRecord> find_prompting_host(const std::string& name, std::string_view request) const;
  /// A host that SPAWN started.
  [[nodiscard]] Result<host::HostRecord> find_spawned(const std::string& name) const;
  void call(host::HostCallRequest request, Done done);
  void type_next(const std::string& name);
  void on_typed(const std::string& name, std::size_t bytes, Result<void> outcome);
  template <typename Callback, typename Value>
  void post_result(Callback done, Value value);

  std::string home_;
  std::string root_;
  std::string records_;
  net::EventLoop& loop_;
  net::Network& network_;
  HostLauncher& launcher_;
  std::size_t starting_ = 0;
  std::map<std::string, std::deque<QueuedInput>> inputs_;  // by name; the first of each is being typed
  std::map<std::uint64_t, std::unique_ptr<host::HostCall>> calls_;
  std::uint64_t last_call_ = 0;
  Lifetime lifetime_;
};

}  // namespace relay::daemon
