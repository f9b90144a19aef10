/// A fake daemon on its own thread over real sockets, with one workspace, one agent and events on demand.
///
/// Threading: created and destroyed by the test; `emit_event` on any thread; the rest on its own loop.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/format.h"
#include "base/json.h"
#include "base/scoped_signal_block.h"
#include "net/asio_loop.h"
#include "net/unix_network.h"
#include "protocol/envelope.h"
#include "protocol/frame.h"

namespace relay::api::testing {

class ThreadedDaemon {
 public:
  explicit ThreadedDaemon(const std::string& directory)
      : control_{directory + "/daemon.sock"}, workspace_{directory + "/relay.sock"} {
    for (const auto& path : {control_, workspace_}) {
      auto listener = network_.listen(path, [this](std::unique_ptr<net::Stream> stream) { accept(std::move(stream)); });
      RELAY_ASSERT(listener.has_value());
      listeners_.push_back(*std::move(listener));
    }
    const ScopedSignalBlock block_signals;
    thread_ = std::thread{[this] { loop_.run(); }};
  }
  ~ThreadedDaemon() {
    loop_.post([this] { loop_.stop(); });  // also works before the thread has entered run()
    thread_.join();
  }
  ThreadedDaemon(const ThreadedDaemon&) = delete;
  ThreadedDaemon& operator=(const ThreadedDaemon&) = delete;

  [[nodiscard]] const std::string& control_socket() const { return control_; }
  /// Adds an event and sends it to the subscribers.
  void emit_event() {
    loop_.post([this] {
      ++newest_;
      for (const auto& [client, _] : clients_) client->send_events();
    });
  }

 private:
  using MessageType = protocol::MessageType;

  struct Client final : net::StreamListener {
    Client(ThreadedDaemon& owner, std::unique_ptr<net::Stream> accepted) : daemon{owner}, stream{std::move(accepted)} {
      stream->start(*this);
    }
    void on_bytes(std::string_view bytes) override {
      reader.push(bytes);
      for (auto frame = reader.next(); frame && *frame; frame = reader.next())
        if (const auto envelope = protocol::parse_envelope(**frame)) on_request(*envelope);
    }
    void on_written(std::size_t) override {}
    void on_closed(const std::string&) override { const auto self = daemon.clients_.extract(this); }

    void on_request(const protocol::Envelope& request) {
      switch (request.type) {
        case MessageType::WorkspaceList:
          return send(MessageType::WorkspaceResponse, request.id,
                      format(R"({{"ok":true,"workspaces":[{{"root":"/p","projectId":"{}","socket":"{}"}}]}})",
                             std::string(12, 'a'), daemon.workspace_));
        case MessageType::Hello:
          return send(MessageType::Welcome, "w",
                      R"({"session_id":"s","resume_token":"t","server":{"heartbeat_ms":5000,"store_id":"one"}})");
        case MessageType::Status: return send(MessageType::StatusResponse, request.id, R"({"agentCount":1})");
        case MessageType::ListAgents:
          return send(MessageType::ListAgentsResponse, request.id, R"({"agents":[{"name":"Bob","idle":false}]})");
        case MessageType::Prompts:
          return send(MessageType::PromptsResponse, request.id, R"({"permissions":[],"questions":[]})");
        case MessageType::EventsQuery: return send(MessageType::EventsResponse, request.id, page(request.payload));
        case MessageType::EventsSubscribe: is_following = true; return send_events();
        default: return;  // no other request is used
      }
    }
    static std::string event(std::uint64_t number) {
      return format(R"({{"type":"item.started","_seq":{},"_ts":1,"_agentName":"Bob"}})", number);
    }
    [[nodiscard]] std::string page(std::string_view query) const {
      const auto after = integer_member(parse_json_object(query).value(), "after").value_or(0);
      std::string events;
      for (auto number = static_cast<std::uint64_t>(after) + 1; number <= daemon.newest_; ++number)
        events += (events.empty() ? "" : ",") + event(number);
      return format(R"({{"events":[{0}],"nextAfter":{1},"more":false,"oldest":1,"newest":{1}}})", events,
                    daemon.newest_);
    }
    void send_events() {
      while (is_following && sent < daemon.newest_)
        send(MessageType::AgentEvent, "v", format(R"({{"event":{}}})", event(++sent)));
    }
    void send(MessageType type, std::string_view id, std::string_view payload) {
      std::string bytes;
      protocol::append_frame(bytes, reader.style(),
                             protocol::write_envelope({.type = type, .id = id, .ts = 1, .payload = payload}));
      stream->write(bytes);
    }

    ThreadedDaemon& daemon;
    protocol::FrameReader reader;
    bool is_following = false;
    std::uint64_t sent = 0;
    std::unique_ptr<net::Stream> stream;
  };

  void accept(std::unique_ptr<net::Stream> stream) {
    auto client = std::make_unique<Client>(*this, std::move(stream));
    clients_.emplace(client.get(), std::move(client));
  }

  const std::string control_, workspace_;
  net::AsioLoop loop_;
  net::UnixNetwork network_{loop_};
  std::uint64_t newest_ = 0;
  std::map<Client*, std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
  std::thread thread_;
};

}  // namespace relay::api::testing
