/// The hosts of agents, as handlers see them: who has one, and a word at its door (docs/spec/host.md).
///
/// Threading: the API's loop thread. Callbacks are called once, and never inside the call.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/refusal.h"
#include "host/record.h"
#include "net/event_loop.h"
#include "net/stream.h"

namespace relay::host {
class DoorCall;
}

namespace relay::api {

class Doors {
 public:
  using Answered = std::move_only_function<void(Outcome<json::object>)>;

  virtual ~Doors() = default;
  /// Those of the project whose records lie there.
  virtual std::vector<host::HostRecord> hosts_in(const std::string& directory) = 0;
  virtual void ask(const host::HostRecord& host, json::object request, Answered answered) = 0;
};

/// The youngest of that name.
std::optional<host::HostRecord> host_named(const std::vector<host::HostRecord>& hosts, std::string_view name);

/// Over the hosts' sockets. Bounded: at most kMaxDoorCalls at once.
class RealDoors final : public Doors {
 public:
  static constexpr std::size_t kMaxDoorCalls = 64;

  /// Both outlive it.
  RealDoors(net::EventLoop& loop, net::Network& network);
  ~RealDoors() override;

  std::vector<host::HostRecord> hosts_in(const std::string& directory) override;
  void ask(const host::HostRecord& host, json::object request, Answered answered) override;

 private:
  net::EventLoop& loop_;
  net::Network& network_;
  std::unordered_map<std::uint64_t, std::unique_ptr<host::DoorCall>> calls_;
  std::uint64_t last_ = 0;
};

}  // namespace relay::api
