/// The 1.x daemon from npm: the same wire protocol without confirmations.
#include <filesystem>

#include "subjects/relay_endpoint.h"
#include "subjects/subject.h"

namespace relay::bench {
namespace {

class RunningFirstDaemon final : public RunningServer {
 public:
  explicit RunningFirstDaemon(ServerProcess server) : server_{std::move(server)} {}

  Result<std::vector<std::unique_ptr<Endpoint>>> open(std::span<const Seat> seats) override {
    std::vector<std::unique_ptr<Endpoint>> endpoints;
    for (const auto& seat : seats) {
      auto peer = RELAY_TRY(Peer::connect(server_.file("r.sock")));
      RELAY_TRY(peer.write_all(hello_frame({.name = seat.name})));
      RELAY_TRY(read_welcome(peer));
      endpoints.push_back(std::make_unique<RelayEndpoint>(std::move(peer), seat.name, Repeats::Yes));
    }
    return endpoints;
  }

  [[nodiscard]] const ServerProcess& server() const override { return server_; }

 private:
  ServerProcess server_;
};

class Relay1x final : public Subject {
 public:
  Relay1x(Traits traits, std::string script, std::string modules)
      : Subject{std::move(traits)}, script_{std::move(script)}, modules_{std::move(modules)} {}

  [[nodiscard]] std::optional<std::string> missing() const override {
    if (!find_program("node")) return "node is not installed";
    if (!std::filesystem::exists(modules_)) return "not installed; run scripts/setup bench";
    return std::nullopt;
  }

  [[nodiscard]] Result<std::unique_ptr<RunningServer>> start() const override {
    auto server = RELAY_TRY(ServerProcess::create());
    const auto socket = server.file("r.sock");
    RELAY_TRY(server.start({find_program("node").value_or("node"), script_, modules_, socket}));
    RELAY_TRY(server.until([&] { return Peer::connect(socket).has_value(); }));
    return std::make_unique<RunningFirstDaemon>(std::move(server));
  }

 private:
  std::string script_, modules_;
};

}  // namespace

void add_relay_1x(Subjects& subjects) {
  subjects.push_back(std::make_unique<Relay1x>(
      Traits{.name = "relay-1x",
             .title = "the 1.x daemon",
             .max_agents = 500,
             .note = "npm agent-relay 1.6.0 on Node; messages in memory (its SQLite binding needs an install script); "
                     "drops silently when its queues are full"},
      RELAY_FIRST_DAEMON_SCRIPT, RELAY_FIRST_DAEMON_MODULES));
}

}  // namespace relay::bench
