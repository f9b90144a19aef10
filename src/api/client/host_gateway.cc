#include "api/client/host_gateway.h"

#include "host/control/host_call.h"
#include "host/control/running_hosts.h"
#include "protocol/send.h"

namespace relay::api {

std::optional<host::HostRecord> find_host(const std::vector<host::HostRecord>& hosts, std::string_view name) {
  for (auto host = hosts.rbegin(); host != hosts.rend(); ++host)
    if (host->name == name) return *host;
  return std::nullopt;
}

SocketHostGateway::SocketHostGateway(net::EventLoop& loop, net::Network& network) : loop_{loop}, network_{network} {}
SocketHostGateway::~SocketHostGateway() = default;

std::vector<host::HostRecord> SocketHostGateway::hosts_in(const std::string& directory) {
  return host::running_hosts(directory);
}

void SocketHostGateway::request(const host::HostRecord& host, json::object payload, OnResponse on_response) {
  if (calls_.size() >= kMaxHostCalls)
    return loop_.post([on_response = std::move(on_response)]() mutable {
      on_response(
          std::unexpected{ApiError{429, "BUSY", "too many requests to agents at once; try again", Millis{1'000}}});
    });
  const auto number = ++last_;
  auto done = [this, number, on_response = std::move(on_response)](Result<json::object> answer) mutable {
    const auto call = calls_.extract(number);  // destroyed when this callback returns
    if (answer) return on_response(*std::move(answer));
    const auto code = protocol::nack_code_of(answer.error());
    on_response(std::unexpected{api_error_by_code(code ? name_of(*code) : "", answer.error().message())});
  };
  calls_.emplace(number,
                 std::make_unique<host::HostCall>(
                     loop_, network_,
                     host::HostCallRequest{.agent = host.name, .socket = host.socket, .body = json::serialize(payload)},
                     std::move(done)));
}

}  // namespace relay::api
