#include "broker/testing/prompt_fixture.h"

namespace relay::broker::testing {
namespace {

constexpr auto kDefaultRules = R"(
[[permissions]]
tool = "bash"
command = "make test"
action = "approve"
[[permissions]]
tool = "bash"
command = "git push( .*)?"
action = "deny"
[[permissions]]
tool = "fetch"
action = "ask"
timeout = 120
)";

Strings ids_of(const json::array& rows, std::string_view member) {
  Strings ids;
  for (const auto& row : rows) ids.push_back(string_field(row.as_object(), member));
  return ids;
}

}  // namespace

PromptFixture::PromptFixture() { use_default_rules(); }

void PromptFixture::use_default_rules() { use_rules(kDefaultRules); }

void PromptFixture::use_rules(const std::string& toml) {
  fixture.broker().use_policy(std::make_shared<const permissions::Policy>(*permissions::parse_policy(toml)));
}

void PromptFixture::send_event(const std::string& members) {
  fixture.send_event(bob, format("e1-{}", ++last_event), "{" + members + "}");
}

void PromptFixture::request_permission(const std::string& id, const std::string& command, const std::string& more) {
  send_event(format(R"("type":"permission.requested","requestId":"{}","tool":"Bash","command":"{}","description":"{}",)"
                    R"("riskLevel":"medium","_ts":{}{})",
                    id, command, command, fixture.now().wall, more));
}

void PromptFixture::request_fetch(const std::string& id, WallMs at) {
  send_event(format(R"("type":"permission.requested","requestId":"{}","tool":"WebFetch","description":"a page",)"
                    R"("riskLevel":"medium","_ts":{})",
                    id, at));
}

void PromptFixture::ask_question(const std::string& id) {
  send_event(format(R"("type":"question.requested","questionId":"{}","question":"Which?","options":["a","b"])", id));
}

void PromptFixture::resolve(const std::string& id) {
  send_event(format(
      R"("type":"permission.resolved","requestId":"{}","resolution":"approved","resolvedBy":"human","resolvedAt":1)",
      id));
}

Frame PromptFixture::prompts(const std::string& agent) {
  return fixture.response(user, "PROMPTS", agent.empty() ? "{}" : format(R"({{"agent":"{}"}})", agent));
}

Strings PromptFixture::open_permissions() { return ids_of(prompts().at("permissions").as_array(), "requestId"); }

Strings PromptFixture::open_questions() { return ids_of(prompts().at("questions").as_array(), "questionId"); }

std::string PromptFixture::answer(ConnectionId by, const std::string& members) {
  fixture.drop_received(by);
  fixture.request(by, "ANSWER", R"({"agent":"Bob",)" + members + "}");
  return result_of(by);
}

std::string PromptFixture::result_of(ConnectionId by) {
  const auto results = fixture.received(by, "ANSWER_RESULT");
  if (results.empty()) return "none yet";
  const auto& result = payload(results.back());
  if (result.at("success").as_bool()) return "ok";
  EXPECT_FALSE(string_field(result, "error").empty());
  return string_field(result, "code");
}

}  // namespace relay::broker::testing
