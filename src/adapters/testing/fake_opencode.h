/// A fake of OpenCode's server: its requests, an event stream that the test writes, and failures. Formats are those of
/// 1.18.33.
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
  using Request = net::testing::HttpServer::Request;

  explicit FakeOpenCode(net::AsioLoop& loop) : server{loop, [this](Request& request) { on_request(request); }} {}

  /// To every client of the event stream.
  void emit(const std::string& event) {
    for (auto& request : server.requests())
      if (request->target() == "/event" && !request->closed()) send_event(*request, event);
  }
  void end_events() {
    for (auto& request : server.requests())
      if (request->target() == "/event") request->close();
  }

  std::string authorization = "Authorization: Basic bWU6bWluZQ==";  // me:mine
  std::string sessions = "[]", statuses = "{}", permissions = "[]", questions = "[]";
  std::map<std::string, std::string> messages;  // by session: the response to GET /session/ID/message
  std::set<std::string> stored;                 // messages that can be looked up
  enum class Post { Accepts, AcceptsAndDisconnects, Disconnects, Rejects } post = Post::Accepts;
  std::string event_header = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

  bool responds = true;

  std::vector<std::string> requests;  // target and body, in order, without /event and synchronization
  std::vector<json::object> prompts;
  int connections = 0;

  net::testing::HttpServer server;

 private:
  static void send_event(Request& request, const std::string& event) {
    request.send(format("{:x}\r\ndata: {}\n\n\r\n", event.size() + 8, event));
  }

  void on_request(Request& request) {
    if (!responds) return;
    const auto target = request.target();
    if (!request.text().contains(authorization)) return request.respond(401, R"({"name":"Unauthorized"})");
    if (target == "/event") {
      ++connections;
      request.send(event_header);
      if (event_header.contains("200")) send_event(request, R"({"type":"server.connected","properties":{}})");
      return;
    }
    if (request.line().starts_with("GET ")) return on_get(request, target);
    requests.push_back(target + " " + request.body());
    if (target == "/session") return request.respond(200, R"({"id":"ses_made"})");
    if (target.ends_with("/prompt_async")) return on_prompt(request);
    if (target.contains("gone"))
      return request.respond(404, R"({"_tag":"PermissionNotFoundError","message":"not found"})");
    request.respond(200, "true");
  }

  void on_get(Request& request, const std::string& target) {
    if (target.starts_with("/session?")) return request.respond(200, sessions);
    if (target == "/session/status") return request.respond(200, statuses);
    if (target == "/permission") return request.respond(200, permissions);
    if (target == "/question") return request.respond(200, questions);
    if (const auto at = target.find("/message/"); at != std::string::npos) {
      requests.push_back("GET message");
      return request.respond(stored.contains(target.substr(at + 9)) ? 200 : 404, "{}");
    }
    const auto session = target.substr(9, target.find("/message?") - 9);
    request.respond(200, messages.contains(session) ? messages[session] : "[]");
  }

  void on_prompt(Request& request) {
    const auto body = parse_json_object(request.body());
    RELAY_ASSERT(body.has_value());
    if (post == Post::Rejects)
      return request.respond(404, R"({"name":"NotFoundError","data":{"message":"Session not found"}})");
    prompts.push_back(*body);
    if (post != Post::Disconnects) stored.insert(*string_member(*body, "messageID"));
    if (post != Post::Accepts) return request.close();
    request.send("HTTP/1.1 204 No Content\r\n\r\n");
  }
};

}  // namespace relay::adapters::testing
