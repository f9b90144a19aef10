#include "tests/simulation/operator.h"

#include "base/format.h"
#include "tests/simulation/sim_client.h"

namespace relay::simulation {
namespace {

client::LinkOptions options() {
  client::LinkOptions options;
  options.socket_path = kSocketPath;
  options.hello.agent = "cli";
  options.hello.system_component = true;
  options.hello.system_token = kSystemToken;
  options.timeout = client::RetryLimit::never_give_up();
  return options;
}

}  // namespace

Operator::Operator(VirtualLoop& loop, net::Network& network, Random& random, Trace& trace, HistoryChecker& checker)
    : random_{random},
      trace_{trace},
      checker_{checker},
      outbox_{client::Numbering::RandomIds, {}, random},
      link_{loop, network, random, outbox_, options(), *this} {}

Operator::~Operator() = default;

void Operator::request(const std::string& request) {
  if (!link_.ready()) return;
  trace_.line("the operator requests {}", request);
  link_.request(protocol::MessageType::Control, request, [this](Result<const protocol::Envelope*> answer) {
    trace_.line("the operator gets {}", answer ? std::string{(*answer)->payload} : answer.error().message());
  });
}

void Operator::request_status() {
  if (!checker_.damaged()) return;
  link_.request(protocol::MessageType::Status, "{}",
                [this, process = checker_.daemon_starts()](Result<const protocol::Envelope*> answer) {
                  if (answer) checker_.on_status(process, (*answer)->payload);
                });
}

void Operator::act(const std::vector<std::string>& agents) {
  const auto& agent = agents[random_.below(agents.size())];
  const auto& other = agents[random_.below(agents.size())];
  switch (random_.below(10)) {
    case 0:
    case 1: return request(format(R"({{"action":"flush","agent":"{}"}})", agent));
    case 2: return pause(agent);
    case 3: return unpause(agent);
    case 4: {
      if (random_.below(2) == 0) return cancel();
      const auto id = checker_.some_delivery(random_.next(), false);
      return id.empty() ? void() : request(format(R"({{"action":"retry","deliveryId":"{}"}})", id));
    }
    case 5: return request(format(R"({{"action":"redeliver","all":true,"agent":"{}"}})", agent));
    case 6: return request(R"({"action":"redeliver","all":true,"states":["dead","failed","expired","in_doubt"]})");
    case 7: {
      const auto id = checker_.some_delivery(random_.next(), true);
      if (id.empty()) return;
      return request(format(R"({{"action":"redeliver","deliveryId":"{}"}})", id));
    }
    default: {
      constexpr const char* kActions[] = {"accept", "hold", "refuse"};
      return request(format(R"({{"action":"policy","agent":"{}","rules":[{{"from":"{}","action":"{}"}}]}})", agent,
                            random_.below(2) == 0 ? "*" : other, kActions[random_.below(3)]));
    }
  }
}

void Operator::pause(const std::string& agent) {
  request(format(R"({{"action":"pause","agent":"{}","reason":"lunch"}})", agent));
}

void Operator::unpause(const std::string& agent) {
  checker_.on_unpause_request(agent);
  request(format(R"({{"action":"unpause","agent":"{}"}})", agent));
}

void Operator::cancel() {
  const auto id = checker_.some_delivery(random_.next(), false);
  if (id.empty()) return;
  checker_.on_cancel_request(id);
  request(format(R"({{"action":"cancel","deliveryId":"{}"}})", id));
}

void Operator::release_all(const std::vector<std::string>& agents) {
  for (const auto& agent : agents) {
    unpause(agent);
    request(format(R"({{"action":"policy","agent":"{}","rules":[]}})", agent));
    request(format(R"({{"action":"flush","agent":"{}"}})", agent));
  }
}

}  // namespace relay::simulation
