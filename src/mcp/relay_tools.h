/// Executes the tools: each call becomes requests to the RelayClient, the reservations or the event log, and one
/// result.
///
/// Invariants
/// - Calls do not block each other. A wait ends with a message, its timeout or its cancellation, whichever comes first.
/// - A message is returned in a result first, and taken only after that result has been written. Until then it stays
///   pending, and no other call returns it.
/// - A result is bounded: long bodies are cut and name the command that prints the rest.
/// Ownership: borrows loop, client and directory, which outlive it. Threading: loop thread only.
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
/// Records the event and returns its session; the error message is for the model.
using EventLog = std::function<Result<std::string>(const LoggedEvent&)>;

struct RelayToolsOptions {
  std::string project_root;
  Spawning spawning = Spawning::Forbidden;
  EventLog log;
  std::function<void()> on_taken = {};  // returned messages were taken, or could not be
};

class RelayTools final : public RequestHandler, public RelayClientListener {
 public:
  RelayTools(net::EventLoop& loop, RelayClient& post, Directory& shared, RelayToolsOptions options);
  ~RelayTools() override;

  /// Call before the first tool call. The server outlives the last result.
  void serve(Server& server) { server_ = &server; }
  /// The MCP client disconnects: waits end now with an empty result.
  void end_waits();
  /// Messages that were returned and have not been taken yet.
  [[nodiscard]] std::size_t taking() const { return taking_.size(); }

  void call(RequestId request_id, std::string_view tool, const json::object& arguments, bool wants_progress) override;
  void read(RequestId request_id, std::string_view uri) override;
  void cancel(RequestId request_id) override;

  void on_message_available() override;
  void on_inbox_unavailable(const std::string& why) override;

 private:
  struct PendingWait {
    std::string from, thread;
    SteadyTime since{};
    Millis timeout{};
    bool checking = false;       // its inbox query is open
    bool recheck_after = false;  // a message arrived since then
    bool wants_progress = false;
    std::unique_ptr<net::Timer> timer;
  };

  void whoami(RequestId request_id);
  void agents(RequestId request_id, const Arguments& arguments);
  void send(RequestId request_id, const Arguments& arguments);
  void reply(RequestId request_id, const Arguments& arguments);
  void inbox(RequestId request_id, const Arguments& arguments);
  void wait(RequestId request_id, const Arguments& arguments, bool wants_progress);
  void acknowledge(RequestId request_id, const Arguments& arguments);
  void topics(RequestId request_id, const Arguments& arguments);
  void log_event(RequestId request_id, const Arguments& arguments);
  void reserve(RequestId request_id, const Arguments& arguments);
  void spawn(RequestId request_id, const Arguments& arguments);
  void release(RequestId request_id, const Arguments& arguments);

  void send_message(RequestId request_id, protocol::OutgoingSend message);
  void recheck(RequestId request_id);
  void on_progress_timer(RequestId request_id);
  enum class Tries { First, Last };
  void show_inbox(RequestId request_id, std::size_t limit, Tries tries);
  /// Returns the messages, and takes them once the result has been written.
  void return_messages(RequestId request_id, const InboxPage& page, std::string_view nothing);
  using OnTaken = std::move_only_function<void(Result<std::vector<InboxMessage>>)>;
  /// A host returns what fits one response; this repeats until none of `ids` can be taken.
  void take(std::vector<std::string> ids, OnTaken on_taken, std::vector<InboxMessage> taken = {});
  void recheck_all();
  void leave_out_taken(InboxPage& page) const;
  void change_reservations(RequestId request_id, const Arguments& arguments, int tries_left);
  Result<ToolResult> reserved(const Arguments& arguments);
  void finish(RequestId request_id, ToolResult result, OnWritten written = {});
  [[nodiscard]] bool is_open(RequestId request_id) const { return open_.contains(request_id); }
  void remember(const InboxMessage& message);

  net::EventLoop& loop_;
  RelayClient& client_;
  Directory& shared_;
  RelayToolsOptions options_;
  Server* server_ = nullptr;
  std::set<RequestId> open_;
  std::map<RequestId, PendingWait> waiting_;
  std::set<std::string, std::less<>> taking_;  // returned, not taken yet
  std::deque<InboxMessage> seen_;              // without bodies and files, for relay_reply
  std::map<RequestId, std::unique_ptr<net::Timer>> retries_;
  Lifetime lifetime_;
};

}  // namespace relay::mcp
