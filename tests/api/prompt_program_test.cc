// Permissions and questions over HTTP: the real daemon, host and hook program against a fake Claude Code.
#include "api/handlers/prompt_bodies.h"
#include "api/http_client.h"
#include "base/format.h"
#include "cli/agents.h"

namespace relay::api_tests {
namespace {

using api::PermissionBody;
using api::PermissionList;
using api::QuestionList;

struct HttpApiPrompts : cli_tests::Agents {
  std::unique_ptr<HttpClient> http;

  HttpApiPrompts() {
    script(R"({"rules": [{"contains": "deploy", "tool": "make deploy", "asks": true, "reply": "deployed"},
      {"contains": "database", "question": "Which one?", "choices": ["SQLite", "PostgreSQL"], "reply": "noted"}]})");
    box.set("CLAUDE_CONFIG_DIR", box.project() + "/claude");
    box.ok({"down", "--all"});
    box.ok({"up"});
    http = std::make_unique<HttpClient>(*string_member(box.ok_json({"status"}), "http"));
  }
  cli_tests::Terminal& start_claude() {
    auto& terminal = start_program(
        "Bob", {FAKE_CLAUDE, "--script", box.project() + "/script.json", "--log", log_of("Bob")}, "Fake Claude Code");
    EXPECT_TRUE(until([&] {
      const auto all = box.ok_json({"explain", "Bob"});
      const auto* interfaces = object_member(all, "interfaces");
      return interfaces != nullptr && string_member(*interfaces, "output") == "transcript";
    }));
    return terminal;
  }
  std::string target(const std::string& rest) const { return "/api/v1/agents/Bob/" + rest; }
  template <class List>
  List listed(const std::string& list) {
    const auto response = http->request("GET", target(list));
    EXPECT_EQ(response.status, 200) << response.body;
    auto read = schema::read<List>(response.object());
    EXPECT_TRUE(read.has_value()) << read.error().message() << response.body;
    return read.value_or(List{});
  }
  PermissionBody permission() {
    PermissionList list;
    EXPECT_TRUE(until([&] { return (list = listed<PermissionList>("permissions")).permissions.size() == 1; }));
    return list.permissions.empty() ? PermissionBody{} : list.permissions.front();
  }
  /// The newest event of that type; empty when there is none.
  json::object newest(const std::string& type) {
    const auto page = http->request("GET", format("/api/v1/events?types={}&agent=Bob", type)).object();
    const auto* events = array_member(page, "events");
    return events == nullptr || events->empty() ? json::object{} : events->back().as_object();
  }
  /// The answer that the agent received.
  json::object decision_of(const std::string& name) {
    for (const auto& event : events(name))
      if (string_member(event, "event") == "answer") return event;
    return {};
  }
  bool ends_as(const std::string& resolution) {
    return until([&] { return string_member(newest("permission.resolved"), "resolution") == resolution; });
  }
};

TEST_F(HttpApiPrompts, PermissionsAreListedAndApproved) {
  auto& bob = start_claude();
  EXPECT_TRUE(listed<PermissionList>("permissions").permissions.empty());
  bob.type("deploy\r");
  const auto request = permission();
  EXPECT_EQ(request.command, "make deploy");
  EXPECT_FALSE(request.file_path.has_value());
  const auto listing = http->request("GET", target("permissions")).object();
  EXPECT_TRUE(listing.at("permissions").at(0).at("filePath").is_null()) << json::serialize(listing);
  EXPECT_EQ(request.agent, "Bob");
  EXPECT_EQ(count("Bob", "ran"), 0U) << "the tool waits for the decision";
  const auto response =
      http->request("POST", target(format("permissions/{}/approve", request.request_id)), R"({"reason":"fine"})");
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_TRUE(until([&] { return count("Bob", "ran") == 1; }));
  EXPECT_TRUE(ends_as("approved"));
  const auto again = http->request("POST", target(format("permissions/{}/approve", request.request_id)));
  EXPECT_EQ(again.status, 409) << again.body;
  EXPECT_EQ(again.code(), "STALE");
}

TEST_F(HttpApiPrompts, DenyReachesTheAgent) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  const auto request = permission();
  EXPECT_EQ(
      http->request("POST", target(format("permissions/{}/deny", request.request_id)), R"({"reason":"not today"})")
          .status,
      200);
  EXPECT_TRUE(until([&] { return count("Bob", "replied") == 1; })) << "the agent continued";
  EXPECT_EQ(count("Bob", "ran"), 0U);
  const auto response = decision_of("Bob");
  EXPECT_EQ(string_member(response, "decision"), "denied");
  EXPECT_EQ(string_member(response, "by"), "hook") << "the answer reached the agent by its hook, not by keys";
  EXPECT_TRUE(string_member(response, "text").value_or("").contains("not today")) << json::serialize(response);
  EXPECT_TRUE(ends_as("denied"));
  EXPECT_EQ(string_member(newest("permission.resolved"), "reason"), "not today");
}

TEST_F(HttpApiPrompts, QuestionsAreListedAndAnswered) {
  auto& bob = start_claude();
  bob.type("which database?\r");
  QuestionList list;
  ASSERT_TRUE(until([&] { return (list = listed<QuestionList>("questions")).questions.size() == 1; }));
  EXPECT_EQ(list.questions[0].question, "Which one?");
  const auto response = http->request("POST", target(format("questions/{}/answer", list.questions[0].question_id)),
                                      R"({"answer":"SQLite"})");
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_TRUE(until([&] { return listed<QuestionList>("questions").questions.empty(); }));
  ASSERT_TRUE(until([&] { return count("Bob", "answer") == 1; }));
  EXPECT_EQ(string_member(decision_of("Bob"), "text"), R"({"Which one?":"SQLite"})") << "the answer at the agent";
  EXPECT_TRUE(until([&] { return string_member(newest("question.resolved"), "answer") == "SQLite"; }));
  EXPECT_EQ(string_member(newest("question.resolved"), "questionId"), list.questions[0].question_id);
  const auto again = http->request("POST", target(format("questions/{}/answer", list.questions[0].question_id)),
                                   R"({"answer":"PostgreSQL"})");
  EXPECT_EQ(again.code(), "STALE") << again.body;
}

TEST_F(HttpApiPrompts, UnknownPromptCannotBeAnswered) {
  start_claude();
  for (const auto* path : {"permissions/nothing/approve", "permissions/nothing/deny"}) {
    const auto response = http->request("POST", target(path));
    EXPECT_EQ(response.status, 404) << path << response.body;
    EXPECT_EQ(response.code(), "NOT_FOUND") << path;
  }
  EXPECT_EQ(http->request("POST", target("questions/nothing/answer"), R"({"answer":"x"})").status, 404);
  EXPECT_EQ(http->request("POST", "/api/v1/agents/Missing/permissions/nothing/approve").status, 404);
  EXPECT_EQ(http->request("GET", "/api/v1/agents/Missing/permissions").status, 404);
}

}  // namespace
}  // namespace relay::api_tests
