/// Access to the hosts of agents: their records, and requests to their sockets (docs/spec/host.md).
///
/// Threading: the API's loop thread. Callbacks are called once, never inside the call.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/http/api_error.h"
#include "host/control/host_record.h"
#include "net/event_loop.h"
#include "net/stream.h"

namespace relay::host {
class HostCall;
}

namespace relay::api {

class HostGateway {
 public:
  using OnResponse = std::move_only_function<void(ApiResult<json::object>)>;

  virtual ~HostGateway() = default;
  /// The hosts with a record in that directory.
  virtual std::vector<host::HostRecord> hosts_in(const std::string& directory) = 0;
  virtual void request(const host::HostRecord& host, json::object payload, OnResponse on_response) = 0;
};

/// The newest host of that name.
std::optional<host::HostRecord> find_host(const std::vector<host::HostRecord>& hosts, std::string_view name);

/// Sends requests over the hosts' sockets, at most kMaxHostCalls at once.
class SocketHostGateway final : public HostGateway {
 public:
  static constexpr std::size_t kMaxHostCalls = 64;

  /// Loop and network outlive it.
  SocketHostGateway(net::EventLoop& loop, net::Network& network);
  ~SocketHostGateway() override;

  std::vector<host::HostRecord> hosts_in(const std::string& directory) override;
  void request(const host::HostRecord& host, json::object payload, OnResponse on_response) override;

 private:
  net::EventLoop& loop_;
  net::Network& network_;
  std::unordered_map<std::uint64_t, std::unique_ptr<host::HostCall>> calls_;
  std::uint64_t last_ = 0;
};

}  // namespace relay::api
