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

Operator::Operator(VirtualLoop& loop, net::Network& network, Random& random, Trace& trace, HistoryChecker& ledger)
    : random_{random},
      trace_{trace},
      ledger_{ledger},
      outbox_{client::Numbering::RandomIds, {}, random},
      link_{loop, network, random, outbox_, options(), *this} {}

Operator::~Operator() = default;

void Operator::ask(const std::string& request) {
  if (!link_.ready()) return;
  trace_.line("a person asks {}", request);
  link_.request(protocol::MessageType::Control, request, [this](Result<const protocol::Envelope*> answer) {
    trace_.line("a person hears {}", answer ? std::string{(*answer)->payload} : answer.error().message());
  });
}

void Operator::ask_status() {
  if (!ledger_.damaged()) return;
  link_.request(protocol::MessageType::Status, "{}",
                [this, life = ledger_.daemon_lives()](Result<const protocol::Envelope*> answer) {
                  if (answer) ledger_.hears_status(life, (*answer)->payload);
                });
}

void Operator::act(const std::vector<std::string>& agents) {
  const auto& agent = agents[random_.below(agents.size())];
  const auto& other = agents[random_.below(agents.size())];
  switch (random_.below(10)) {
    case 0:
    case 1: return ask(format(R"({{"action":"flush","agent":"{}"}})", agent));
    case 2: return ask(format(R"({{"action":"pause","agent":"{}","reason":"lunch"}})", agent));
    case 3: return ask(format(R"({{"action":"unpause","agent":"{}"}})", agent));
    case 4: {
      const auto id = ledger_.some_delivery(random_.next(), false);
      if (id.empty()) return;
      if (random_.below(2) == 0) return ask(format(R"({{"action":"retry","deliveryId":"{}"}})", id));
      ledger_.wants_cancelled(id);
      return ask(format(R"({{"action":"cancel","deliveryId":"{}"}})", id));
    }
    case 5: return ask(format(R"({{"action":"redeliver","all":true,"agent":"{}"}})", agent));
    case 6: return ask(R"({"action":"redeliver","all":true,"states":["dead","failed","expired","in_doubt"]})");
    case 7: {
      const auto id = ledger_.some_delivery(random_.next(), true);
      if (id.empty()) return;
      return ask(format(R"({{"action":"redeliver","deliveryId":"{}"}})", id));
    }
    default: {
      constexpr const char* kActions[] = {"accept", "hold", "refuse"};
      return ask(format(R"({{"action":"policy","agent":"{}","rules":[{{"from":"{}","action":"{}"}}]}})", agent,
                        random_.below(2) == 0 ? "*" : other, kActions[random_.below(3)]));
    }
  }
}

void Operator::let_go(const std::vector<std::string>& agents) {
  for (const auto& agent : agents) {
    ask(format(R"({{"action":"unpause","agent":"{}"}})", agent));
    ask(format(R"({{"action":"policy","agent":"{}","rules":[]}})", agent));
    ask(format(R"({{"action":"flush","agent":"{}"}})", agent));
  }
}

}  // namespace relay::simulation
