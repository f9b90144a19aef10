#include "cli/wire/host_connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "net/testing/temporary_directory.h"

namespace relay::cli {
namespace {

/// Where no host runs and the daemon takes connections without ever answering.
struct SilentDaemon : ::testing::Test {
  net::testing::TemporaryDirectory place;
  UniqueFd listener{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  Context context;

  SilentDaemon() {
    context.environment = [](std::string_view) { return std::nullopt; };
    context.project.root = place.path();
    context.project.hosts = place.file("hosts");
    const auto path = place.file("s");
    context.project.socket.primary = path;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    EXPECT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(listener.get(), 8), 0);
  }
};

TEST_F(SilentDaemon, UnknownNameIsReportedWithoutFullTimeout) {
  const auto begin = std::chrono::steady_clock::now();
  const auto found = find_host(context, "Zed", {.done = "waited for"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kResponseTimeout) << "it waits for 500 ms";
  ASSERT_FALSE(found);
  EXPECT_TRUE(is(found.error(), Errc::NoSuchAgent));
  EXPECT_TRUE(found.error().message().starts_with("no agent Zed runs under agent-relay in "))
      << found.error().message();
}

TEST_F(SilentDaemon, EarlierCommandDeadlineWins) {
  const auto found = find_host(context, "Zed", {.done = "waited for", .deadline = in(std::chrono::milliseconds{0})});
  ASSERT_FALSE(found);
  EXPECT_TRUE(is(found.error(), Errc::NoSuchAgent));
}

}  // namespace
}  // namespace relay::cli
