/// The protocol machine: lines of a client in, lines for the client out, tools and resources through one interface.
///
/// Invariants
/// - Every request is answered exactly once, in whatever order the answers come, unless it was cancelled: then never.
/// - At most kMaxOpenRequests are open; one more is refused with a sentence.
/// - The requests of a batch are answered by one array, when the last of them is; progress and the like go ahead of it.
/// - Both eras are served at once (revision.h): a request that names a modern revision is served statelessly, one that
///   names none belongs to the handshake of this process.
/// - Whatever a client says, it gets a value or a sentence; nothing it says ends the program.
/// Ownership: borrows workshop and output, which outlive it. Threading: one thread; reads no clock, does no I/O.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "mcp/on_written.h"
#include "mcp/revision.h"
#include "mcp/rpc.h"

namespace relay::mcp {

inline constexpr std::size_t kMaxOpenRequests = 64;
inline constexpr std::size_t kMaxBatch = 32;
inline constexpr std::size_t kMaxRefusedInBatch = 1'024;  // ids of a batch that is too large
inline constexpr std::size_t kMaxLineBytes = 512 * 1024;

/// One open request, named for those who work on it.
using RequestId = std::uint64_t;

struct ToolResult {
  std::string text;
  json::object structured = {};
  bool failed = false;  // the model reads the text and may try again
};
inline ToolResult failed(std::string sentence) {
  return {.text = std::move(sentence), .structured = {}, .failed = true};
}

/// Who does the work. Each call is answered by `Server::finish` or `Server::finish_reading`, at once or later.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  virtual void call(RequestId ticket, std::string_view tool, const json::object& arguments, bool wants_progress) = 0;
  virtual void read(RequestId ticket, std::string_view uri) = 0;
  /// Nobody waits for it any more; no answer is wanted.
  virtual void cancel(RequestId ticket) = 0;
};

/// What a client is told of us.
struct ServerDescription {
  std::string version;
  std::string instructions;
  json::array tools;
  json::array resources;
  std::set<std::string, std::less<>> subscribable = {};  // URIs whose changes are told; others cannot be subscribed to
};

class Server {
 public:
  /// `written`, when there is one, is called once the line has left.
  using Output = std::function<void(std::string line, OnWritten written)>;

  Server(ServerDescription card, RequestHandler& workshop, Output output);

  void on_line(std::string_view line);
  /// How it begins and ends; who asked is answered when that shows the id.
  void on_line_too_long(std::string_view beginning, std::string_view end);

  /// `written`: once the answer has left; never when nobody wanted it any more.
  void finish(RequestId ticket, ToolResult result, OnWritten written = {});
  /// The text of a resource as JSON, or why there is none.
  void finish_reading(RequestId ticket, Result<json::object> content);
  /// Told to the client when it gave a token for this request. `done` must grow.
  void progress(RequestId ticket, std::int64_t done, std::int64_t total, std::string_view message);
  void resource_changed(std::string_view uri);

  /// The client is leaving: what only waits is ended, what is being done may finish.
  void close();
  [[nodiscard]] std::size_t open() const { return open_.size(); }

 private:
  enum class Kind { Tool, Resource, Listen };
  /// Its number; 0 is none.
  using BatchNumber = std::uint64_t;
  struct Open {
    json::value id;
    Kind kind;
    Era era;
    BatchNumber batch = 0;
    json::value progress_token = nullptr;
    std::string uri = {};                          // Resource
    std::set<std::string, std::less<>> uris = {};  // Listen
  };

  /// What was answered in a batch so far.
  struct Batch {
    std::string answers;
    std::vector<OnWritten> written;
  };

  void on_batch(const json::array& messages);
  void refuse_all(const json::array& messages);
  void end_batch_if_done(BatchNumber number);
  void on_message(const json::value& value);
  void on_request(const RpcRequest& request);
  void on_notification(const RpcNotification& notification);
  /// The era a request belongs to; empty when it was answered with a refusal.
  std::optional<Era> era_of(const RpcRequest& request);
  void initialize(const RpcRequest& request);
  void discover(const RpcRequest& request);
  void call_tool(const RpcRequest& request, Era era);
  void read_resource(const RpcRequest& request, Era era);
  void subscribe(const RpcRequest& request, bool wanted);
  void listen(const RpcRequest& request);

  RequestId open_request(const RpcRequest& request, Kind kind, Era era);
  void complete(const Open& open, Result<json::object> result, OnWritten written = {});
  void answer(const json::value& id, Era era, json::object result, OnWritten written = {});
  void answer_list(const RpcRequest& request, Era era, std::string_view member, const json::array& list);
  void refuse(const json::value& id, RpcCode code, std::string_view message, json::object data = {});
  void say_answer(std::string line, OnWritten written = {});
  [[nodiscard]] bool knows_resource(std::string_view uri) const;
  [[nodiscard]] const Open* find(const json::value& id) const;

  ServerDescription card_;
  RequestHandler& workshop_;
  Output output_;
  std::string revision_;                           // agreed in a handshake; empty: none was
  std::set<std::string, std::less<>> subscribed_;  // legacy
  std::map<RequestId, Open> open_;
  RequestId last_ticket_ = 0;
  std::map<BatchNumber, Batch> batches_;  // not answered yet
  BatchNumber last_batch_ = 0;
  BatchNumber reading_ = 0;    // whose messages are being read
  BatchNumber answering_ = 0;  // where an answer goes that is said now
};

}  // namespace relay::mcp
