// Lists that exceed one response of the daemon are complete.
#include <gtest/gtest.h>

#include "cli/sandbox.h"

namespace relay::cli_tests {
namespace {

constexpr int kMessages = 8;
constexpr std::size_t kBytes = 300'000;  // three exceed a response of 768 KiB

class Paging : public ::testing::Test {
 protected:
  Paging() {
    box_.ok({"up"});
    box_.ok({"chat", "--name", "Bob"});
    for (int i = 0; i < kMessages; ++i)
      box_.ok({"send", "Bob", "-", "--from", "Alice"}, "large number" + std::to_string(i) + std::string(kBytes, ' '));
  }

  /// The numbers of the listed messages, in order.
  static std::string order_in(const std::string& out) {
    std::string found;
    for (auto at = out.find("number"); at != std::string::npos; at = out.find("number", at + 1)) found += out[at + 6];
    return found;
  }

  Sandbox box_;
};

TEST_F(Paging, LogIsComplete) {
  EXPECT_EQ(order_in(box_.ok({"log", "--json"})), "01234567");
  EXPECT_EQ(order_in(box_.ok({"log", "Alice", "--json"})), "01234567");
  EXPECT_EQ(order_in(box_.ok({"log", "--limit", "5", "--json"})), "34567");
}

TEST_F(Paging, InboxIsComplete) {
  EXPECT_EQ(order_in(box_.ok({"inbox", "Bob", "--json"})), "01234567");
  EXPECT_EQ(order_in(box_.ok({"inbox", "Bob", "--unread", "--limit", "7", "--json"})), "1234567");
}

TEST_F(Paging, SearchIsComplete) {
  EXPECT_TRUE(eventually([&] { return order_in(box_.run({"search", "large", "--json"}).out) == "01234567"; }))
      << "the index is built in the background";
  EXPECT_EQ(order_in(box_.ok({"search", "large", "--limit", "6", "--json"})), "234567");
}

}  // namespace
}  // namespace relay::cli_tests
