// The API's thread beside the daemon's and those of its clients; run under the thread sanitizer as well.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "api/http/server.h"
#include "api/testing/threaded_daemon.h"
#include "net/testing/raw_client.h"
#include "net/testing/temporary_directory.h"

namespace relay::api {
namespace {

/// A client on the thread that uses it.
class Caller {
 public:
  explicit Caller(std::uint16_t port) : port_{port}, socket_{net::testing::connected_to(port)} {
    const timeval timeout{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  }

  void request(std::string_view path) {
    const auto text = format("GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", path, port_);
    (void)::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);  // wait_for() notices a closed connection
  }
  /// True when that text arrives; false when the server closes first or at a timeout.
  bool wait_for(std::string_view text) {
    while (!received_.contains(text)) {
      char buffer[4'096];
      const auto count = ::recv(socket_.get(), buffer, sizeof buffer, 0);
      if (count <= 0) return false;
      received_.append(buffer, static_cast<std::size_t>(count));
    }
    received_.erase(0, received_.find(text) + text.size());
    return true;
  }

 private:
  std::uint16_t port_;
  UniqueFd socket_;
  std::string received_;
};

struct ServerThreadsTest : ::testing::Test {
  net::testing::TemporaryDirectory directory;
  testing::ThreadedDaemon daemon{directory.path()};
  std::unique_ptr<Server> server = Server::start({.policy = {.owner = ::geteuid()},
                                                  .control_socket = daemon.control_socket(),
                                                  .hosts_of = [](const std::string&) { return std::string{"/none"}; },
                                                  .facts = {.version = "1"},
                                                  .limits = {.linger = Millis{50}}})
                                       .value();
};

TEST_F(ServerThreadsTest, ConcurrentClientsDuringEvents) {
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i)
    clients.emplace_back([port = server->port()] {
      Caller caller{port};
      for (int turn = 0; turn < 10; ++turn) {
        caller.request("/api/v1/agents");
        EXPECT_TRUE(caller.wait_for(R"("name":"Bob")"));
        caller.request("/metrics");
        EXPECT_TRUE(caller.wait_for("agent_relay_http_responses_total{"));
      }
    });
  for (int i = 0; i < 100; ++i) daemon.emit_event();
  for (auto& client : clients) client.join();
}

TEST_F(ServerThreadsTest, EventsReachReadersOnOtherThreads) {
  std::vector<std::thread> readers;
  std::atomic<int> listening = 0, done = 0;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([port = server->port(), &listening, &done] {
      Caller caller{port};
      caller.request("/api/v1/events/sse");
      EXPECT_TRUE(caller.wait_for("text/event-stream"));
      ++listening;
      EXPECT_TRUE(caller.wait_for("id: 50\n"));
      ++done;
      EXPECT_TRUE(caller.wait_for("relay.resume")) << "the resume notice when the server stops";
    });
  while (listening < 3) std::this_thread::yield();
  for (int i = 0; i < 50; ++i) daemon.emit_event();
  Caller late{server->port()};
  late.request("/api/v1/events/sse?offset=0");
  EXPECT_TRUE(late.wait_for("id: 50\n"));
  while (done < 3) std::this_thread::yield();
  server->begin_stop();
  for (auto& reader : readers) reader.join();
}

/// A listener at ::1; empty where this machine has none, or the port is taken.
UniqueFd listen_at_v6_loopback(std::uint16_t port) {
  UniqueFd socket{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in6 bound{};
  bound.sin6_family = AF_INET6;
  bound.sin6_addr = in6addr_loopback;
  bound.sin6_port = htons(port);
  const auto* address = reinterpret_cast<const sockaddr*>(&bound);
  if (!socket || ::bind(socket.get(), address, sizeof bound) != 0 || ::listen(socket.get(), 1) != 0) return {};
  return socket;
}

TEST_F(ServerThreadsTest, ListensAtBothLoopbackAddresses) {
  if (!listen_at_v6_loopback(0)) GTEST_SKIP() << "this machine has no IPv6";
  EXPECT_FALSE(listen_at_v6_loopback(server->port())) << "a browser may connect to localhost there first";
}

TEST_F(ServerThreadsTest, PortInUseAtTheOtherLoopbackCountsAsTaken) {
  const auto blocker = listen_at_v6_loopback(0);
  if (!blocker) GTEST_SKIP() << "this machine has no IPv6";
  sockaddr_in6 bound{};
  socklen_t size = sizeof bound;
  ASSERT_EQ(::getsockname(blocker.get(), reinterpret_cast<sockaddr*>(&bound), &size), 0);
  const auto port = ntohs(bound.sin6_port);
  const auto other = Server::start({.policy = {.port = port, .owner = ::geteuid()},
                                    .control_socket = daemon.control_socket(),
                                    .hosts_of = [](const std::string&) { return std::string{"/none"}; },
                                    .facts = {.version = "1"},
                                    .limits = {.linger = Millis{50}}});
  ASSERT_TRUE(other.has_value()) << other.error().message();
  EXPECT_NE((*other)->port(), port);
}

TEST_F(ServerThreadsTest, StopsDuringRequests) {
  Caller first{server->port()}, second{server->port()};
  std::thread requester{[&second] {
    do second.request("/api/v1/agents");
    while (second.wait_for(R"("name":"Bob")"));
  }};
  first.request("/healthz");
  EXPECT_TRUE(first.wait_for("200 OK"));
  server.reset();
  requester.join();
}

}  // namespace
}  // namespace relay::api
