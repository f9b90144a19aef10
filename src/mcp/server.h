/// The MCP protocol: lines from the client in, lines to the client out; tools and resources behind one interface.
///
/// Invariants
/// - Every request gets exactly one response, in any order, unless it was cancelled: then none.
/// - At most kMaxOpenRequests are open; one more is refused with an error.
/// - The responses to a batch are one array, written when the last of them is ready; notifications precede it.
/// - Both eras are served at once (revision.h): a request that names a modern revision is stateless, one that names
///   none belongs to the handshake of this process.
/// - No input terminates the program.
/// Ownership: borrows handler and output, which outlive it. Threading: one thread; reads no clock, does no I/O.
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

/// One open request.
using RequestId = std::uint64_t;

struct ToolResult {
  std::string text;
  json::object structured = {};
  bool failed = false;  // the model reads the text and may try again
};
inline ToolResult failed(std::string sentence) {
  return {.text = std::move(sentence), .structured = {}, .failed = true};
}

/// Executes requests. Each call ends with `Server::finish` or `Server::finish_reading`, inside the call or later.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  virtual void call(RequestId request_id, std::string_view tool, const json::object& arguments,
                    bool wants_progress) = 0;
  virtual void read(RequestId request_id, std::string_view uri) = 0;
  /// The client cancelled the request; no response is sent.
  virtual void cancel(RequestId request_id) = 0;
};

struct ServerDescription {
  std::string version;
  std::string instructions;
  json::array tools;
  json::array resources;
  std::set<std::string, std::less<>> subscribable = {};  // URIs whose changes are announced
};

class Server {
 public:
  /// `written` runs once the line has been written.
  using Output = std::function<void(std::string line, OnWritten written)>;

  Server(ServerDescription description, RequestHandler& handler, Output output);

  void on_line(std::string_view line);
  /// The first and last bytes of the line. The error names the request when they contain its id.
  void on_line_too_long(std::string_view prefix, std::string_view suffix);

  /// `written` runs once the response has been written; never for a cancelled request.
  void finish(RequestId request_id, ToolResult result, OnWritten written = {});
  /// The content of a resource, or the reason why it has none.
  void finish_reading(RequestId request_id, Result<json::object> content);
  /// Sent to a client that gave a progress token for this request. `done` must grow.
  void progress(RequestId request_id, std::int64_t done, std::int64_t total, std::string_view message);
  void resource_changed(std::string_view uri);

  /// The client disconnects: subscriptions end, open tool calls may finish.
  void close();
  [[nodiscard]] std::size_t open() const { return open_.size(); }

 private:
  enum class Kind { Tool, Resource, Listen };
  /// 0: not in a batch.
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

  /// The responses of a batch so far.
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
  /// Empty when the request was refused.
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
  void write_response(std::string line, OnWritten written = {});
  [[nodiscard]] bool has_resource(std::string_view uri) const;
  [[nodiscard]] const Open* find(const json::value& id) const;

  ServerDescription description_;
  RequestHandler& handler_;
  Output output_;
  std::string revision_;                           // negotiated; empty: no handshake yet
  std::set<std::string, std::less<>> subscribed_;  // legacy
  std::map<RequestId, Open> open_;
  RequestId last_request_id_ = 0;
  std::map<BatchNumber, Batch> batches_;  // not written yet
  BatchNumber last_batch_ = 0;
  BatchNumber parsing_ = 0;     // whose messages are being parsed
  BatchNumber responding_ = 0;  // to which a response belongs that is written now
};

}  // namespace relay::mcp
