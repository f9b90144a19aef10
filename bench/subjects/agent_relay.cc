#include "subjects/agent_relay.h"

#include <map>

#include "base/format.h"
#include "subjects/relay_endpoint.h"

namespace relay::bench {
namespace {

class Ours final : public RunningDaemon {
 public:
  explicit Ours(DaemonUnderTest daemon) : daemon_{std::move(daemon)} {}

  Result<std::vector<std::unique_ptr<Endpoint>>> open(std::span<const Seat> seats) override {
    std::vector<Peer> peers;
    std::vector<std::string> epochs;
    for (const auto& seat : seats) {
      peers.push_back(RELAY_TRY(Peer::connect(daemon_.socket())));
      epochs.push_back(relay::format("bench{}", ++connections_));
      const auto token = tokens_.find(seat.name);
      RELAY_TRY(peers.back().write_all(hello_frame({.name = seat.name,
                                                    .confirms = true,
                                                    .outbox = seat.role == Role::Sender ? epochs.back() : "",
                                                    .resume_token = token == tokens_.end() ? "" : token->second})));
    }
    std::vector<std::unique_ptr<Endpoint>> endpoints;
    for (std::size_t i = 0; i < seats.size(); ++i) {
      tokens_[seats[i].name] = RELAY_TRY(read_welcome(peers[i]));
      endpoints.push_back(std::make_unique<RelayEndpoint>(std::move(peers[i]), std::move(epochs[i])));
    }
    return endpoints;
  }

  [[nodiscard]] const ServerProcess& server() const override { return daemon_.server(); }
  [[nodiscard]] const DaemonUnderTest& daemon() const override { return daemon_; }

 private:
  DaemonUnderTest daemon_;
  std::map<std::string, std::string> tokens_;  // resume tokens by name
  int connections_ = 0;
};

class AgentRelaySubject final : public Subject {
 public:
  AgentRelaySubject(Traits traits, std::string program, DaemonSettings settings)
      : Subject{std::move(traits)}, program_{std::move(program)}, settings_{std::move(settings)} {}

  [[nodiscard]] Result<std::unique_ptr<RunningServer>> start() const override {
    return std::unique_ptr<RunningServer>{RELAY_TRY(start_agent_relay(program_, settings_))};
  }

 private:
  std::string program_;
  DaemonSettings settings_;
};

}  // namespace

Result<std::unique_ptr<RunningDaemon>> start_agent_relay(const std::string& program, const DaemonSettings& settings) {
  return std::make_unique<Ours>(RELAY_TRY(DaemonUnderTest::start(program, settings)));
}

void add_agent_relay(Subjects& subjects, const std::string& program) {
  const auto add = [&](Traits traits, DaemonSettings settings) {
    subjects.push_back(std::make_unique<AgentRelaySubject>(std::move(traits), program, std::move(settings)));
  };
  add({.name = "memory",
       .title = "agent-relay, memory",
       .guarantee = AckGuarantee::Memory,
       .keeps_messages = true,
       .own = true,
       .note = "no file is written"},
      {.storage = "memory", .durability = "process"});
  add({.name = "process",
       .title = "agent-relay, process",
       .guarantee = AckGuarantee::Process,
       .keeps_messages = true,
       .own = true,
       .note = "a journal, then SQLite; each commit is handed to the system before the ACK"},
      {.storage = "sqlite", .durability = "process"});
  add({.name = "power",
       .title = "agent-relay, power",
       .guarantee = AckGuarantee::Power,
       .keeps_messages = true,
       .own = true,
       .note = "the same; one sync for all pending commits, before the ACK (the default)"},
      {.storage = "sqlite", .durability = "power"});
}

}  // namespace relay::bench
