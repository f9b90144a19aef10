/// Workspaces, hosts and letters that a test plays: answers are set beforehand, what was asked is remembered.
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

/// Tasks that run when the test says so: callbacks never come from inside the call that asked.
class Later {
 public:
  void post(std::move_only_function<void()> task) { tasks_.push_back(std::move(task)); }
  void run() {
    while (!tasks_.empty()) {
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      task();
    }
  }

 private:
  std::deque<std::move_only_function<void()>> tasks_;
};

struct Asked {
  std::string type;
  json::object payload;
};

class FakeWorkspaceClient final : public WorkspaceClient, public MessageSender {
 public:
  FakeWorkspaceClient(Later& later, std::string id, std::string root)
      : later_{later}, id_{std::move(id)}, root_{std::move(root)} {}

  std::map<std::string, std::deque<Result<json::object>>> answers;  // by the frame's name; the last one stays
  ApiResult<json::object> ack = json::object{{"ack_id", "x"}, {"short_id", "abcd2345"}, {"recipients", 1}};
  std::vector<Asked> asked;
  std::vector<OutgoingMessage> sent;

  [[nodiscard]] const std::string& id() const override { return id_; }
  [[nodiscard]] const std::string& root() const override { return root_; }
  [[nodiscard]] const std::string& hosts() const override { return root_; }

  void request(protocol::MessageType type, json::object payload, Answer answer) override {
    const auto name = std::string{protocol::name_of(type)};
    asked.push_back({name, payload});
    auto& known = answers[name];
    auto told = known.empty() ? Result<json::object>{json::object{}} : known.front();
    if (known.size() > 1) known.pop_front();
    later_.post([answer = std::move(answer), told = std::move(told)]() mutable { answer(std::move(told)); });
  }
  void follow(std::uint64_t, EventListener*) override {}
  void send(OutgoingMessage letter, Stored stored) override {
    sent.push_back(std::move(letter));
    later_.post([stored = std::move(stored), told = ack]() mutable { stored(std::move(told)); });
  }

 private:
  Later& later_;
  std::string id_, root_;
};

class FakeWorkspaceDirectory final : public WorkspaceDirectory {
 public:
  explicit FakeWorkspaceDirectory(Later& later) : later_{later} {}

  FakeWorkspaceClient& add(std::string id, std::string root) {
    open_list.push_back({.id = id, .root = root, .storage = "sqlite"});
    relays_.push_back(std::make_unique<FakeWorkspaceClient>(later_, std::move(id), std::move(root)));
    return *relays_.back();
  }
  std::vector<WorkspaceInfo> open_list;
  LiveStreams* live = nullptr;  // of all of them

  void find(std::string_view which, Found found) override {
    later_.post([this, which = std::string{which}, found = std::move(found)]() mutable {
      const auto chosen = choose_workspace(open_list, which, switched_);
      if (!chosen) return found(std::unexpected{chosen.error()});
      for (const auto& relay : relays_)
        if (relay->id() == chosen->id) return found(WorkspaceHandle{*relay, *relay, live});
    });
  }
  void list(Listed listed) override {
    later_.post([this, listed = std::move(listed)]() mutable { listed(open_list); });
  }
  void open(const std::string& root, Changed opened) override {
    add(format("{:012x}", open_list.size() + 1), root);
    later_.post([this, opened = std::move(opened)]() mutable { opened(open_list.back()); });
  }
  void close(const std::string& id, Changed closed) override {
    later_.post([this, id, closed = std::move(closed)]() mutable {
      const auto chosen = choose_workspace(open_list, id, {});
      if (chosen) std::erase_if(open_list, [&](const auto& each) { return each.id == chosen->id; });
      closed(chosen);
    });
  }
  void switch_to(const std::string& id, Changed switched) override {
    later_.post([this, id, switched = std::move(switched)]() mutable {
      const auto chosen = choose_workspace(open_list, id, {});
      if (chosen) switched_ = chosen->id;
      switched(chosen);
    });
  }
  [[nodiscard]] const std::string& switched_to() const override { return switched_; }

 private:
  Later& later_;
  std::vector<std::unique_ptr<FakeWorkspaceClient>> relays_;
  std::string switched_;
};

class FakeHostGateway final : public HostGateway {
 public:
  explicit FakeHostGateway(Later& later) : later_{later} {}

  std::vector<host::HostRecord> hosts;
  ApiResult<json::object> answer = json::object{{"ok", true}};
  std::vector<json::object> asked;

  std::vector<host::HostRecord> hosts_in(const std::string&) override { return hosts; }
  void ask(const host::HostRecord&, json::object request, Answered answered) override {
    asked.push_back(std::move(request));
    later_.post([told = answer, answered = std::move(answered)]() mutable { answered(std::move(told)); });
  }

 private:
  Later& later_;
};

/// The whole way of a request, without a connection.
struct FakeApi {
  Later later;
  FakeWorkspaceDirectory workspaces{later};
  FakeHostGateway doors{later};
  SystemClock clock;
  SeededRandom random{7};
  std::optional<protocol::PeerOrigin> caller = protocol::user_origin();  // of requests; none: it is gone
  std::size_t callers_asked = 0;
  Api api{workspaces,
          doors,
          clock,
          random,
          {.version = "9.9",
           .origin_of = [this](const net::HttpPeer&) { return ++callers_asked, caller; },
           .system_token = [] { return std::string{"system"}; }}};
  AccessPolicy guard{.port = 3888, .owner = 1000};

  net::ServerResponse ask(std::string method, std::string target, std::string body = {},
                          std::vector<net::HttpHeader> more = {}) {
    net::ServerRequest request{.method = std::move(method), .body = std::move(body)};
    const auto question = target.find('?');
    request.path = target.substr(0, question);
    if (question != std::string::npos) request.query = target.substr(question + 1);
    request.headers.add("Host", "127.0.0.1:3888");
    if (!request.body.empty()) request.headers.add("Content-Type", "application/json");
    for (auto& header : more) request.headers.add(header.name, header.value);
    request.peer.uid = 1000;
    std::vector<net::ServerResponse> answers;
    dispatch(
        api, guard, std::move(request), [&](net::ServerResponse told) { answers.push_back(std::move(told)); }, nullptr);
    later.run();
    if (answers.size() != 1) return {.status = 0, .body = format("{} answers", answers.size())};
    return std::move(answers.front());
  }
};

}  // namespace relay::api::testing
