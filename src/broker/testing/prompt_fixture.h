/// Bob requests permissions and asks questions; the user lists and answers them; rules decide some.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker/testing/broker_fixture.h"
#include "broker/testing/sessions.h"
#include "permissions/policy_file.h"

namespace relay::broker::testing {

struct PromptFixture : ::testing::Test {
  BrokerFixture fixture{no_heartbeat()};
  ConnectionId bob = fixture.join_with_acks("Bob", R"("cli":"claude","workingDirectory":"/p")");
  ConnectionId user = fixture.join_user();
  int last_event = 0;  // its id is e1-N

  /// `make test` is approved, `git push` denied, fetching denied after 120 s without an answer.
  PromptFixture();
  void use_default_rules();
  void use_rules(const std::string& toml);

  // Events of Bob.
  void send_event(const std::string& members);
  void request_permission(const std::string& id, const std::string& command, const std::string& more = {});
  void request_fetch(const std::string& id, WallMs at);
  void ask_question(const std::string& id);
  void resolve(const std::string& id);

  // What the user sees and answers.
  Frame prompts(const std::string& agent = {});
  Strings open_permissions();
  Strings open_questions();
  Frame first_open() { return prompts().at("permissions").as_array().at(0).as_object(); }
  /// Answers a prompt of Bob; returns the result, like result_of().
  std::string answer(ConnectionId by, const std::string& members);
  /// `ok`, the error code, or `none yet`; of the last ANSWER.
  std::string result_of(ConnectionId by);

  std::vector<AnswerPrompt> host_answers() { return fixture.host_requests<AnswerPrompt>(); }
  std::vector<NotifyUser> notifications() { return fixture.host_requests<NotifyUser>(); }
  std::vector<Frame> log(const std::string& type) { return stored_events(fixture, type); }
  std::string session() { return string_field(log("session.started").back(), "_sessionId"); }
};

}  // namespace relay::broker::testing
