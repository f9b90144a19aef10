#include "cli/wire/prompts.h"

#include <chrono>

#include "base/format.h"
#include "cli/wire/host_connection.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/workspace.h"
#include "protocol/prompt_requests.h"

namespace relay::cli {
namespace {

using protocol::MessageType;
using Prompts = std::vector<json::object>;

constexpr std::chrono::milliseconds kPressTimeout{10'000};  // the daemon allows 8 s for an answer by keys
constexpr std::chrono::milliseconds kStartTimeout{40'000};  // the daemon's timeout for the start of an agent is 30 s

bool has_kind(const json::object& prompt, std::string_view kind) {
  return kind.empty() || string_member(prompt, "kind") == kind;
}

// ---- through the daemon

Result<json::object> request(DaemonConnection& connection, MessageType type, const std::string& payload,
                             std::chrono::milliseconds timeout = kResponseTimeout) {
  return parse_json_object(RELAY_TRY(connection.request(type, payload, timeout)));
}

Result<Prompts> open_prompts_of(DaemonConnection& connection, std::string_view agent, std::string_view kind) {
  json::object query;
  if (!agent.empty()) query["agent"] = agent;
  const auto answer = RELAY_TRY(request(connection, MessageType::Prompts, json::serialize(query)));
  Prompts all;
  const auto take = [&](std::string_view list, std::string_view name, std::string_view id, std::string_view summary) {
    for (const auto* row : objects_in(answer, list)) {
      auto request = string_member(*row, id).value_or("");
      json::object prompt{{"agent", string_member(*row, "agent").value_or("")},
                          {"id", request.substr(request.rfind('-') + 1)},
                          {"requestId", request},
                          {"kind", name},
                          {"summary", string_member(*row, summary).value_or("")}};
      prompt.insert(row->begin(), row->end());
      if (has_kind(prompt, kind)) all.push_back(std::move(prompt));
    }
  };
  take("permissions", "permission", "requestId", "description");
  take("questions", "question", "questionId", "question");
  return all;
}

// ---- through the host sockets

Prompts prompts_of_host(HostConnection& host, std::string_view agent, std::string_view kind) {
  Prompts prompts;
  const auto answer = host.request({{"method", "prompts"}});
  if (!answer) return prompts;
  for (const auto* prompt : objects_in(*answer, "prompts")) {
    json::object named{{"agent", agent}, {"requestedAt", time_in(*prompt, "since")}};
    named.insert(prompt->begin(), prompt->end());
    named.insert({{"canAnswer", true}});
    if (has_kind(named, kind)) prompts.push_back(std::move(named));
  }
  return prompts;
}

Result<json::object> select_prompt(const Prompts& prompts, const PromptAnswer& answer) {
  const auto what = answer.kind.empty() ? std::string_view{"prompt"} : answer.kind;
  for (const auto& prompt : prompts)
    if (!answer.prompt.empty() &&
        (string_member(prompt, "id") == answer.prompt || string_member(prompt, "requestId") == answer.prompt))
      return prompt;
  if (!answer.prompt.empty())
    return fail(
        relay::format("{} has no open {} {}; it may have been answered already", answer.agent, what, answer.prompt));
  if (prompts.empty()) return fail(relay::format("{} has no pending {}", answer.agent, what));
  if (prompts.size() > 1)
    return fail(relay::format("{} has {} pending prompts; choose one with --prompt from: agent-relay {}s", answer.agent,
                              prompts.size(), what == "prompt" ? "permission" : what));
  return prompts.front();
}

Result<json::object> answer_through_host(const Context& context, const PromptAnswer& answer) {
  const auto host = RELAY_TRY(find_host(context, answer.agent, {.done = "answered here"}));
  auto connection = RELAY_TRY(HostConnection::open(host));
  auto prompt = RELAY_TRY(select_prompt(prompts_of_host(connection, answer.agent, answer.kind), answer));
  json::object body{{"method", "answer"},
                    {"prompt", string_member(prompt, "id").value_or("")},
                    {"decision", answer.approve ? "approve" : "deny"}};
  if (!answer.message.empty()) body["message"] = answer.message;
  if (!answer.answers.empty()) body["answers"] = json::array(answer.answers.begin(), answer.answers.end());
  RELAY_TRY(connection.request(body, kPressTimeout));
  return prompt;
}

}  // namespace

Result<std::vector<json::object>> open_prompts(const Context& context, std::string_view kind) {
  if (auto connection = join_workspace(context)) return open_prompts_of(*connection, {}, kind);
  Prompts all;
  for (const auto& host : host::reachable_hosts(context.project.hosts)) {
    auto connection = HostConnection::open(host);
    if (!connection) continue;  // it has just exited
    for (auto& prompt : prompts_of_host(*connection, host.name, kind)) all.push_back(std::move(prompt));
  }
  return all;
}

Result<json::object> answer_prompt(const Context& context, const PromptAnswer& answer) {
  auto connection = join_workspace(context);
  if (!connection) return answer_through_host(context, answer);
  const auto prompts = RELAY_TRY(open_prompts_of(*connection, answer.agent, answer.kind));
  auto prompt = select_prompt(prompts, answer);
  // The host may have a prompt that has not reached the daemon yet.
  if (!prompt && (prompts.empty() || !answer.prompt.empty())) return answer_through_host(context, answer);
  if (!prompt) return prompt;
  const auto result =
      RELAY_TRY(request(*connection, MessageType::Answer,
                        protocol::write_answer({.agent = answer.agent,
                                                .request = string_member(*prompt, "requestId").value_or(""),
                                                .decision = answer.approve ? protocol::PromptDecision::Approve
                                                                           : protocol::PromptDecision::Deny,
                                                .answers = answer.answers,
                                                .reason = answer.message}),
                        string_member(*prompt, "tool") == "spawn" ? kStartTimeout : kPressTimeout));
  if (!bool_member(result, "success").value_or(false))
    return fail(Errc::Refused, string_member(result, "error").value_or("the daemon refused"));
  return prompt;
}

}  // namespace relay::cli
