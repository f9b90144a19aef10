/// What the tools do: each call becomes questions to the Post, the reservations or the event log, and one answer.
///
/// Invariants
/// - Calls do not wait for each other; a wait ends with a letter, its time, or its cancellation, whichever comes first.
/// - A letter is looked at, shown, and taken when the answer that shows it has left: whatever happens before that, it
///   waits for the next who asks. While it is on its way no other call shows it.
/// - An answer is bounded: long bodies are cut, and say how the rest is read.
/// Ownership: borrows loop, post and directory, which outlive it. Threading: loop thread only.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/lifetime.h"
#include "mcp/arguments.h"
#include "mcp/relay_client.h"
#include "mcp/reservations.h"
#include "mcp/server.h"
#include "net/event_loop.h"

namespace relay::mcp {

inline constexpr std::size_t kMaxShownAgents = 200;

struct LoggedEvent {
  std::string kind, text;
  std::vector<std::string> paths;
};
/// Writes it down and says where; the error is a sentence for the model.
using EventLog = std::function<Result<std::string>(const LoggedEvent&)>;

struct RelayToolsOptions {
  std::string project_root;
  Spawning spawning = Spawning::Forbidden;
  EventLog log;
  std::function<void()> on_taken = {};  // letters that were shown are taken, or could not be
};

class RelayTools final : public RequestHandler, public RelayClientListener {
 public:
  RelayTools(net::EventLoop& loop, RelayClient& post, Directory& shared, RelayToolsOptions options);
  ~RelayTools() override;

  /// Before the first call; the server outlives the last answer.
  void serve(Server& server) { server_ = &server; }
  /// The client is leaving: waits end now, and are answered with nothing.
  void end_waits();
  /// How many letters were shown and have not been taken yet.
  [[nodiscard]] std::size_t taking() const { return taking_.size(); }

  void call(RequestId ticket, std::string_view tool, const json::object& arguments, bool wants_progress) override;
  void read(RequestId ticket, std::string_view uri) override;
  void cancel(RequestId ticket) override;

  void on_message_available() override;
  void on_mail_unknown(const std::string& why) override;

 private:
  struct PendingWait {
    std::string from, thread;
    SteadyTime since{};
    Millis timeout{};
    bool asking = false;     // its question is under way
    bool asked_for = false;  // and another letter came meanwhile
    bool wants_progress = false;
    std::unique_ptr<net::Timer> timer;
  };

  void whoami(RequestId ticket);
  void agents(RequestId ticket, const Arguments& arguments);
  void send(RequestId ticket, const Arguments& arguments);
  void reply(RequestId ticket, const Arguments& arguments);
  void inbox(RequestId ticket, const Arguments& arguments);
  void wait(RequestId ticket, const Arguments& arguments, bool wants_progress);
  void acknowledge(RequestId ticket, const Arguments& arguments);
  void topics(RequestId ticket, const Arguments& arguments);
  void log_event(RequestId ticket, const Arguments& arguments);
  void reserve(RequestId ticket, const Arguments& arguments);
  void spawn(RequestId ticket, const Arguments& arguments);
  void release(RequestId ticket, const Arguments& arguments);

  void send_message(RequestId ticket, protocol::OutgoingSend message);
  void recheck(RequestId ticket);
  void on_progress_timer(RequestId ticket);
  enum class Tries { First, Last };
  void show_inbox(RequestId ticket, std::size_t limit, Tries tries);
  /// Shows them, and takes them then.
  void return_messages(RequestId ticket, const InboxPage& mail, std::string_view nothing);
  using OnTaken = std::move_only_function<void(Result<std::vector<InboxMessage>>)>;
  /// A host hands out at once what fits one answer; this goes on until no more of these can be taken.
  void take(std::vector<std::string> ids, OnTaken on_taken, std::vector<InboxMessage> taken = {});
  void recheck_all();
  void leave_out_taken(InboxPage& mail) const;
  void change_reservations(RequestId ticket, const Arguments& arguments, int tries_left);
  Result<ToolResult> reserved(const Arguments& arguments);
  void finish(RequestId ticket, ToolResult result, OnWritten written = {});
  [[nodiscard]] bool is_open(RequestId ticket) const { return open_.contains(ticket); }
  void remember(const InboxMessage& letter);

  net::EventLoop& loop_;
  RelayClient& post_;
  Directory& shared_;
  RelayToolsOptions options_;
  Server* server_ = nullptr;
  std::set<RequestId> open_;
  std::map<RequestId, PendingWait> waiting_;
  std::set<std::string, std::less<>> taking_;  // shown, and not taken yet
  std::deque<InboxMessage> seen_;              // without bodies and files: whom to answer
  std::map<RequestId, std::unique_ptr<net::Timer>> retries_;
  Lifetime lifetime_;
};

}  // namespace relay::mcp
