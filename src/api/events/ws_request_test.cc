#include "api/events/ws_request.h"

#include <gtest/gtest.h>

namespace relay::api {
namespace {

std::string refused(std::string_view text) {
  const auto read = read_socket_request(text);
  return read ? "taken" : read.error().message();
}

TEST(SocketRequest, ParsesEveryRequest) {
  EXPECT_EQ(read_socket_request(R"({"type":"subscribe"})").value(), SocketRequest{SubscribeRequest{}});
  EXPECT_EQ(read_socket_request(
                R"({"type":"subscribe","types":["item"],"agents":["Bob"],"sessions":null,"after":42,"else":1})")
                .value(),
            (SocketRequest{SubscribeRequest{{.types = {"item"}, .agents = {"Bob"}, .after = 42}}}));
  EXPECT_EQ(read_socket_request(R"({"type":"watch","agent":"Bob"})").value(), SocketRequest{WatchRequest{"Bob"}});
  EXPECT_EQ(read_socket_request(R"({"type":"unwatch","agent":"Bob"})").value(), SocketRequest{UnwatchRequest{"Bob"}});
}

TEST(SocketRequest, RejectsOtherMessages) {
  EXPECT_EQ(refused(R"({"type":"sing"})"), "unknown type \"sing\"; use subscribe, watch or unwatch");
  EXPECT_EQ(refused(R"({"type":"watch"})"), "\"agent\" must name the agent");
  EXPECT_EQ(refused(R"({"type":"subscribe","types":"item"})"), "\"types\" must be a list of strings");
  EXPECT_EQ(refused(R"({"type":"subscribe","agents":[1]})"), "\"agents\" must be a list of strings");
  EXPECT_EQ(refused(R"({"type":"subscribe","after":-1})"), "\"after\" must be a non-negative integer such as 42");
  EXPECT_NE(refused(R"({"type":"subscribe","types":["nothing"]})"), "taken");
  EXPECT_NE(refused(R"({"type":"watch","agent":"../x"})"), "taken");
  EXPECT_NE(refused("[]"), "taken");
  EXPECT_NE(refused(""), "taken");
  EXPECT_EQ(refused(std::string(70'000, ' ')), "a message may have 65536 bytes, this one has 70000");
}

}  // namespace
}  // namespace relay::api
