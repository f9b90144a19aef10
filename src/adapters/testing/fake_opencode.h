/// OpenCode's server as an adapter meets it: the requests it answers, an event stream the test speaks on, and ways to
/// break. Shapes are those of 1.18.33.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "net/testing/http_server.h"

namespace relay::adapters::testing {

class FakeOpenCode {
 public:
  using Visit = net::testing::HttpServer::Visit;

  explicit FakeOpenCode(net::AsioLoop& loop) : server{loop, [this](Visit& visit) { on_request(visit); }} {}

  /// To everybody who listens.
  void emit(const std::string& event) {
    for (auto& visit : server.visits())
      if (visit->target() == "/event" && !visit->left()) say(*visit, event);
  }
  void end_events() {
    for (auto& visit : server.visits())
      if (visit->target() == "/event") visit->close();
  }

  std::string authorization = "Authorization: Basic bWU6bWluZQ==";  // me:mine
  std::string sessions = "[]", statuses = "{}", permissions = "[]", questions = "[]";
  std::map<std::string, std::string> messages;  // by session: what GET /session/ID/message tells
  std::set<std::string> stored;                 // messages that can be looked up
  enum class Post { Takes, TakesAndBreaks, Breaks, Refuses } post = Post::Takes;
  std::string event_header = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

  bool answers = true;

  std::vector<std::string> asked;  // "POST /session {}" in order, without /event and what is asked at a new start
  std::vector<json::object> prompts;
  int connections = 0;

  net::testing::HttpServer server;

 private:
  static void say(Visit& visit, const std::string& event) {
    visit.say(format("{:x}\r\ndata: {}\n\n\r\n", event.size() + 8, event));
  }

  void on_request(Visit& visit) {
    if (!answers) return;
    const auto target = visit.target();
    if (!visit.text().contains(authorization)) return visit.answer(401, R"({"name":"Unauthorized"})");
    if (target == "/event") {
      ++connections;
      visit.say(event_header);
      if (event_header.contains("200")) say(visit, R"({"type":"server.connected","properties":{}})");
      return;
    }
    if (visit.line().starts_with("GET ")) return on_get(visit, target);
    asked.push_back(target + " " + visit.body());
    if (target == "/session") return visit.answer(200, R"({"id":"ses_made"})");
    if (target.ends_with("/prompt_async")) return on_prompt(visit);
    if (target.contains("gone"))
      return visit.answer(404, R"({"_tag":"PermissionNotFoundError","message":"not found"})");
    visit.answer(200, "true");
  }

  void on_get(Visit& visit, const std::string& target) {
    if (target.starts_with("/session?")) return visit.answer(200, sessions);
    if (target == "/session/status") return visit.answer(200, statuses);
    if (target == "/permission") return visit.answer(200, permissions);
    if (target == "/question") return visit.answer(200, questions);
    if (const auto at = target.find("/message/"); at != std::string::npos) {
      asked.push_back("GET message");
      return visit.answer(stored.contains(target.substr(at + 9)) ? 200 : 404, "{}");
    }
    const auto session = target.substr(9, target.find("/message?") - 9);
    visit.answer(200, messages.contains(session) ? messages[session] : "[]");
  }

  void on_prompt(Visit& visit) {
    const auto body = parse_json_object(visit.body());
    RELAY_ASSERT(body.has_value());
    if (post == Post::Refuses)
      return visit.answer(404, R"({"name":"NotFoundError","data":{"message":"Session not found"}})");
    prompts.push_back(*body);
    if (post != Post::Breaks) stored.insert(*string_member(*body, "messageID"));
    if (post != Post::Takes) return visit.close();
    visit.say("HTTP/1.1 204 No Content\r\n\r\n");
  }
};

}  // namespace relay::adapters::testing
