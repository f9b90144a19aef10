// The frames PROMPTS and ANSWER.
#include <algorithm>

#include "base/format.h"
#include "broker/authority.h"
#include "broker/prompts.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using protocol::NackCode;
using protocol::PromptDecision;
using text::JsonWriter;
using Decision = PromptAnswer::Decision;

namespace {

void write_permission(JsonWriter& out, const OpenPrompt& open) {
  const auto& permission = *open.permission();
  out.field("tool", permission.tool);
  const auto nullable = [&out](std::string_view name, const std::optional<std::string>& value) {
    value ? out.field(name, *value) : out.raw(name, "null");
  };
  nullable("command", permission.command);
  nullable("filePath", permission.file_path);
  if (permission.directory) out.field("directory", *permission.directory);
  out.field("description", permission.description).field("riskLevel", schema::name_of(permission.risk_level));
  out.optional("riskReason", open.decision.risk_reason).optional("rule", open.decision.rule);
  if (permission.partial.value_or(false)) out.field("partial", true);
}

void write_question(JsonWriter& out, const OpenPrompt& open) {
  const auto& question = std::get<events::QuestionRequested>(open.event);
  out.field("question", question.question);
  if (question.options) {
    out.begin_array("options");
    for (const auto& option : *question.options) out.element(option);
    out.end();
  }
  if (question.default_answer) out.field("defaultAnswer", *question.default_answer);
}

}  // namespace

void Prompts::on_prompts(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_prompts(envelope.payload);
  if (!wanted) return connections_.send_error(connection, ErrorCode::BadRequest, wanted.error().message());
  JsonWriter payload;
  if (!wanted->empty() && agents_.find(*wanted) == nullptr)
    payload.field("error", agents_.unknown_reason(*wanted)).field("code", name_of(NackCode::UnknownRecipient));
  struct Row {
    const AgentState* agent;
    const OpenPrompt* open;
  };
  std::vector<Row> rows;
  for (const auto& [name, agent] : agents_.all())
    if (wanted->empty() || name == *wanted)
      for (const auto& open : agent.prompts->table.all()) rows.push_back({&agent, &open});
  std::ranges::sort(rows, [](const Row& a, const Row& b) {
    return std::tie(a.open->requested_at, a.agent->name()) < std::tie(b.open->requested_at, b.agent->name());
  });
  bool more = false;
  const auto list = [&](std::string_view title, std::string_view id, bool permissions, auto write) {
    payload.begin_array(title);
    for (const auto& [agent, open] : rows) {
      if ((open->permission() != nullptr) != permissions) continue;
      if (payload.size() > protocol::kMaxResponseBytes) {
        more = true;
        break;
      }
      payload.begin_element().field(id, open->id).field("agent", agent->name().value());
      payload.field("sessionId", agent->session->id.value());
      write(payload, *open);
      payload.field("requestedAt", open->requested_at);
      if (const auto expires_at = open->expires_at(); expires_at && !open->late)
        payload.field("expiresAt", *expires_at);
      payload.field("canAnswer", open->can_answer() && agent->connected()).end();
    }
    payload.end();
  };
  list("permissions", "requestId", true, write_permission);
  list("questions", "questionId", false, write_question);
  if (more) payload.field("more", true);
  connections_.respond(connection, MessageType::PromptsResponse, envelope.id, payload.take());
}

void Prompts::on_answer(ConnectionState& connection, const protocol::Envelope& envelope) {
  auto wanted = protocol::parse_answer(envelope.payload);
  const auto rejected =
      wanted ? check_answer(connection, *wanted) : Rejection{NackCode::BadRequest, wanted.error().message()};
  if (rejected) return send_answer_result(connection, envelope.id, rejected);
  AgentState& agent = *agents_.find(wanted->agent);
  // A session answers under its own name; the command line acts for the user.
  auto by = !connection.query_only ? connection.agent->value()
            : wanted->by.empty()   ? std::string{protocol::kUserName}
                                   : std::move(wanted->by);
  answer(agent, *agent.prompts->table.find(wanted->request),
         {.decision = wanted->decision == PromptDecision::Deny ? Decision::Deny : Decision::Approve,
          .reason = std::move(wanted->reason),
          .answers = std::move(wanted->answers)},
         std::move(by), requests_.start(connection, envelope.id, MessageType::AnswerResult));
}

std::optional<Rejection> Prompts::check_answer(const ConnectionState& connection,
                                               const protocol::AnswerRequest& answer) {
  if (auto refused = require_user(connection, "answer prompts of agents")) return refused;
  AgentState* agent = agents_.find(answer.agent);
  if (agent == nullptr) return Rejection{NackCode::UnknownRecipient, agents_.unknown_reason(answer.agent)};
  const OpenPrompt* open = agent->prompts->table.find(answer.request);
  if (open == nullptr && agent->prompts->table.was_open(answer.request))
    return Rejection{NackCode::Stale,
                     format("the prompt {} of {} was answered or withdrawn", answer.request, answer.agent)};
  if (open == nullptr)
    return Rejection{
        NackCode::NotFound,
        format("{} has no request {}; list the pending ones with: agent-relay permissions, agent-relay questions",
               answer.agent, answer.request)};
  if (!connection.query_only && connection.agent == agent->name())
    return Rejection{NackCode::BadRequest, "an agent cannot answer its own prompt; the user does"};
  if (open->permission() != nullptr && !answer.decision)
    return Rejection{NackCode::BadRequest, "a permission is approved or denied: give \"decision\""};
  if (open->permission() == nullptr && answer.decision != PromptDecision::Deny && answer.answers.empty())
    return Rejection{NackCode::BadRequest, "a question is answered with \"answers\", or denied"};
  if (!open->can_answer())
    return Rejection{NackCode::Unsupported,
                     format("this prompt can be answered on the screen of {} only: agent-relay attach {}", answer.agent,
                            answer.agent)};
  if (!agent->connected())
    return Rejection{NackCode::Busy, format("{} is not connected; answer when it has reconnected", answer.agent),
                     kBusyRetryMs};
  if (open->answering)
    return Rejection{NackCode::Busy, format("{} is already being answered", answer.request), kBusyRetryMs};
  if (auto rejected = requests_.check(connection)) return rejected;
  return std::nullopt;
}

void Prompts::send_answer_result(ConnectionState& connection, std::string_view request_id,
                                 const std::optional<Rejection>& rejected) {
  JsonWriter payload;
  payload.field("replyTo", request_id).field("success", !rejected.has_value());
  if (rejected) payload.field("error", rejected->message).field("code", name_of(rejected->code));
  connections_.send_new(connection, MessageType::AnswerResult, payload.take());
}

}  // namespace relay::broker
