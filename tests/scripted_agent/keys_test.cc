#include "scripted_agent/keys.h"

#include <gtest/gtest.h>

namespace relay::scripted_agent {
namespace {

using Kind = Key::Kind;

TEST(KeyReader, DistinguishesKeysPastesAndReplies) {
  KeyReader reader;
  const auto keys = reader.read("hi\r\x1b[200~a\rb\x1b[201~\x03\x1b[A\x1b[I\x1b]7501;?\a\x1b[?1;2c");
  EXPECT_EQ(keys, (std::vector<Key>{{Kind::Text, "hi"},
                                    {Kind::Enter},
                                    {Kind::Paste, "a\rb"},
                                    {Kind::ControlC},
                                    {Kind::Up},
                                    {Kind::FocusIn},
                                    {Kind::Reply, "]7501;?\a"},
                                    {Kind::Reply, "[?1;2c"}}));
}

TEST(KeyReader, ReadsTheSameForEveryChunking) {
  const std::string bytes = "a\x1b[200~x\x1b[Ay\x1b[201~\r\x1b[B";
  KeyReader whole;
  const auto expected = whole.read(bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    KeyReader reader;
    auto keys = reader.read(bytes.substr(0, cut));
    for (auto& key : reader.read(bytes.substr(cut))) keys.push_back(std::move(key));
    EXPECT_EQ(keys, expected) << "cut at byte " << cut;
  }
}

TEST(KeyReader, LoneEscapeNeedsTimeout) {
  KeyReader reader;
  EXPECT_TRUE(reader.read("\x1b").empty());
  EXPECT_TRUE(reader.has_pending_escape());
  EXPECT_EQ(reader.flush(), (std::vector<Key>{{Kind::Escape}}));
  EXPECT_TRUE(reader.flush().empty());
}

}  // namespace
}  // namespace relay::scripted_agent
