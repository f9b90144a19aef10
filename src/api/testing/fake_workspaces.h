/// Fake workspaces, hosts and message sender. Tests set responses beforehand; requests are recorded.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/api.h"
#include "api/http/route.h"
#include "base/format.h"

namespace relay::api::testing {

/// Tasks that run when the test calls run(), so that callbacks never run inside the call that requested them.
class TaskQueue {
 public:
  void post(std::move_only_function<void()> task) { queue_.push_back(std::move(task)); }
  void run() {
    while (!queue_.empty()) {
      auto task = std::move(queue_.front());
      queue_.pop_front();
      task();
    }
  }

 private:
  std::deque<std::move_only_function<void()>> queue_;
};

struct RecordedRequest {
  std::string type;
  json::object payload;
};

class FakeWorkspaceClient final : public WorkspaceClient, public MessageSender {
 public:
  FakeWorkspaceClient(TaskQueue& tasks, std::string id, std::string root)
      : tasks_{tasks}, id_{std::move(id)}, root_{std::move(root)} {}

  std::map<std::string, std::deque<Result<json::object>>> responses;  // by frame type; the last one repeats
  ApiResult<json::object> ack = json::object{{"ack_id", "x"}, {"short_id", "abcd2345"}, {"recipients", 1}};
  std::vector<RecordedRequest> requests;
  std::vector<OutgoingMessage> sent;

  [[nodiscard]] const std::string& id() const override { return id_; }
  [[nodiscard]] const std::string& root() const override { return root_; }
  [[nodiscard]] const std::string& hosts() const override { return root_; }

  void request(protocol::MessageType type, json::object payload, OnResponse on_response) override {
    const auto name = std::string{protocol::name_of(type)};
    requests.push_back({name, payload});
    auto& queue = responses[name];
    auto result = queue.empty() ? Result<json::object>{json::object{}} : queue.front();
    if (queue.size() > 1) queue.pop_front();
    tasks_.post([on_response = std::move(on_response), result = std::move(result)]() mutable {
      on_response(std::move(result));
    });
  }
  void follow(std::uint64_t, EventListener*) override {}
  void send(OutgoingMessage message, OnStored on_stored) override {
    sent.push_back(std::move(message));
    tasks_.post([on_stored = std::move(on_stored), result = ack]() mutable { on_stored(std::move(result)); });
  }

 private:
  TaskQueue& tasks_;
  std::string id_, root_;
};

class FakeWorkspaceDirectory final : public WorkspaceDirectory {
 public:
  explicit FakeWorkspaceDirectory(TaskQueue& tasks) : tasks_{tasks} {}

  FakeWorkspaceClient& add(std::string id, std::string root) {
    open_list.push_back({.id = id, .root = root, .storage = "sqlite"});
    clients_.push_back(std::make_unique<FakeWorkspaceClient>(tasks_, std::move(id), std::move(root)));
    return *clients_.back();
  }
  std::vector<WorkspaceInfo> open_list;
  LiveStreams* live = nullptr;  // for all workspaces

  void find(std::string_view which, OnFound on_found) override {
    tasks_.post([this, which = std::string{which}, on_found = std::move(on_found)]() mutable {
      const auto workspace = choose_workspace(open_list, which, switched_);
      if (!workspace) return on_found(std::unexpected{workspace.error()});
      for (const auto& client : clients_)
        if (client->id() == workspace->id) return on_found(WorkspaceHandle{*client, *client, live});
    });
  }
  void list(OnListed on_listed) override {
    tasks_.post([this, on_listed = std::move(on_listed)]() mutable { on_listed(open_list); });
  }
  void open(const std::string& root, OnChanged on_done) override {
    add(format("{:012x}", open_list.size() + 1), root);
    tasks_.post([this, on_done = std::move(on_done)]() mutable { on_done(open_list.back()); });
  }
  void close(const std::string& id, OnChanged on_done) override {
    tasks_.post([this, id, on_done = std::move(on_done)]() mutable {
      const auto workspace = choose_workspace(open_list, id, {});
      if (workspace) std::erase_if(open_list, [&](const auto& each) { return each.id == workspace->id; });
      on_done(workspace);
    });
  }
  void switch_to(const std::string& id, OnChanged on_done) override {
    tasks_.post([this, id, on_done = std::move(on_done)]() mutable {
      const auto workspace = choose_workspace(open_list, id, {});
      if (workspace) switched_ = workspace->id;
      on_done(workspace);
    });
  }
  [[nodiscard]] const std::string& switched_to() const override { return switched_; }

 private:
  TaskQueue& tasks_;
  std::vector<std::unique_ptr<FakeWorkspaceClient>> clients_;
  std::string switched_;
};

class FakeHostGateway final : public HostGateway {
 public:
  explicit FakeHostGateway(TaskQueue& tasks) : tasks_{tasks} {}

  std::vector<host::HostRecord> hosts;
  ApiResult<json::object> response = json::object{{"ok", true}};
  std::vector<json::object> requests;

  std::vector<host::HostRecord> hosts_in(const std::string&) override { return hosts; }
  void request(const host::HostRecord&, json::object payload, OnResponse on_response) override {
    requests.push_back(std::move(payload));
    tasks_.post(
        [result = response, on_response = std::move(on_response)]() mutable { on_response(std::move(result)); });
  }

 private:
  TaskQueue& tasks_;
};

/// Dispatches requests without a connection.
struct FakeApi {
  TaskQueue tasks;
  FakeWorkspaceDirectory workspaces{tasks};
  FakeHostGateway gateway{tasks};
  SystemClock clock;
  SeededRandom random{7};
  std::optional<protocol::PeerOrigin> caller = protocol::user_origin();  // of requests; empty: its process has exited
  std::size_t caller_lookups = 0;
  Api api{workspaces,
          gateway,
          clock,
          random,
          {.version = "9.9",
           .origin_of = [this](const net::HttpPeer&) { return ++caller_lookups, caller; },
           .system_token = [] { return std::string{"system"}; }}};
  AccessPolicy policy{.port = 3888, .owner = 1000};

  net::ServerResponse request(std::string method, std::string target, std::string body = {},
                              std::vector<net::HttpHeader> more = {}) {
    net::ServerRequest http_request{.method = std::move(method), .body = std::move(body)};
    const auto query_start = target.find('?');
    http_request.path = target.substr(0, query_start);
    if (query_start != std::string::npos) http_request.query = target.substr(query_start + 1);
    http_request.headers.add("Host", "127.0.0.1:3888");
    if (!http_request.body.empty()) http_request.headers.add("Content-Type", "application/json");
    for (auto& header : more) http_request.headers.add(header.name, header.value);
    http_request.peer.uid = 1000;
    std::vector<net::ServerResponse> responses;
    dispatch(
        api, policy, std::move(http_request),
        [&](net::ServerResponse response) { responses.push_back(std::move(response)); }, nullptr);
    tasks.run();
    if (responses.size() != 1) return {.status = 0, .body = format("{} responses", responses.size())};
    return std::move(responses.front());
  }
};

}  // namespace relay::api::testing
