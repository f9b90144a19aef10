#include "capture/record.h"

#include <gtest/gtest.h>

namespace relay::capture {
namespace {

json::object read(const std::string& line) {
  EXPECT_LE(line.size(), kMaxLineBytes);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto parsed = parse_json_object(line);
  EXPECT_TRUE(parsed);
  return parsed ? *parsed : json::object{};
}

const Source kSource{.session = "s-1", .agent = "claude", .working_directory = "/home/agent/proj", .name = "Alice"};

TEST(Record, IsOneLine) {
  EXPECT_EQ(encode_line({kSource, RecordKind::Prompt, {{"text", "greet\nbob"}}}, 1794729664000),
            R"({"v":1,"ts":1794729664000,"session":"s-1","agent":"claude","kind":"prompt","cwd":"/home/agent/proj",)"
            R"("name":"Alice","data":{"text":"greet\nbob"}})"
            "\n");
}

TEST(Record, NamesTruncatedMembers) {
  const std::string longer(kMaxFieldBytes * 2, 'x');
  const auto line = read(encode_line({kSource,
                                      RecordKind::ToolResult,
                                      {{"tool", "Bash"},
                                       {"input", json::object{{"content", longer}}},
                                       {"escaped", std::string(kMaxFieldBytes, '\x01')},
                                       {"one", longer},
                                       {"two", longer},
                                       {"after", "y"}}},
                                     0));
  const auto& data = *object_member(line, "data");
  EXPECT_EQ(string_member(data, "tool"), "Bash");
  EXPECT_TRUE(string_member(data, "input")->starts_with(R"({"content":"xxx)"));
  ASSERT_NE(array_member(data, "cut"), nullptr);
  EXPECT_EQ(array_member(data, "cut")->front(), "input");
}

TEST(Record, IsBoundedForAnyInput) {
  json::object many;
  for (int i = 0; i < 2'000; ++i) many[std::string(100, 'k') + std::to_string(i)] = std::string(200, '\x02');
  read(encode_line({{.session = std::string(1 << 20, '\x01')}, RecordKind::Other, many}, 0));
}

TEST(Record, RedactsBeforeTruncating) {
  const std::string filler(kMaxFieldBytes - 20, 'x');
  const auto line =
      encode_line({kSource, RecordKind::Prompt, {{"text", filler + " ghp_Abc123Def456Ghi789Jkl012Mno345"}}}, 0);
  EXPECT_EQ(line.find("ghp_"), std::string::npos);
}

TEST(Note, HasTypeAndText) {
  const auto made = note(kSource, "decision", "we use SQLite");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->kind, RecordKind::Note);
  EXPECT_EQ(string_member(made->data, "type"), "decision");
  EXPECT_FALSE(note(kSource, "", "text"));
  EXPECT_FALSE(note(kSource, "Two words", "text"));
  EXPECT_FALSE(note(kSource, "decision", ""));
}

}  // namespace
}  // namespace relay::capture
