#include "broker/prompts.h"

#include <algorithm>

#include "base/format.h"

namespace relay::broker {

using permissions::Action;
using protocol::NackCode;
using Decision = PromptAnswer::Decision;

namespace {

constexpr std::string_view kPolicy = "policy";
constexpr std::string_view kNobody = "nobody";
constexpr std::string_view kSessionEnded = "its session has ended";
/// For prompts of agents that request to start another. Their own timeout is a little longer (host/command_executor.cc,
/// mcp/relay_tools.cc).
constexpr std::chrono::seconds kSpawnTimeout{600};

bool is_below(std::string_view directory, std::string_view top) {
  return directory.starts_with(top) && directory.substr(top.size()).starts_with('/') &&
         directory.find("/..") == std::string_view::npos;
}

void leave_to_user(permissions::Decision& decision, std::string_view why) {
  decision.action = Action::Ask;
  decision.rule = format("{} would approve it, but {}", decision.rule, why);
}

std::string_view action_name(Action action) {
  return action == Action::Approve ? "approve" : action == Action::Deny ? "deny" : "ask";
}

}  // namespace

void Prompts::open(AgentState& agent, OpenPrompt prompt, Occurrence occurrence) {
  if (auto* permission = std::get_if<events::PermissionRequested>(&prompt.event)) {
    prompt.decision = evaluate_rules(*policy_, agent, *permission);
    if (prompt.spawn && !prompt.decision.timeout) prompt.decision.timeout = kSpawnTimeout;
    permission->risk_level = prompt.decision.risk;
  }
  if (const auto* reported = agent.prompts->table.last_reported(prompt.id); reported != nullptr)
    occurrence = reported->is_same_request(prompt) ? Occurrence::Repeated : Occurrence::First;
  if (occurrence == Occurrence::First)
    commits_.change(event_recorder_.row(prompt.event, agent.name(), agent.session->id));
  agent.prompts->table.start_storing(prompt);
  commits_.when_committed([this, name = agent.name(), session = agent.session->id, prompt = std::move(prompt),
                           occurrence](CommitResult result) mutable {
    if (AgentState* asker = agents_.find(name.value())) asker->prompts->table.end_storing(prompt.id);
    if (result == CommitResult::Done) return open_saved(name, session, std::move(prompt), occurrence);
    if (prompt.spawn) spawns_.on_not_opened(prompt.id);
  });
}

void Prompts::open_saved(const AgentName& name, const SessionId& session, OpenPrompt prompt, Occurrence occurrence) {
  AgentState* agent = agents_.find(name.value());
  if (agent == nullptr || !agent->session || agent->session->id != session || agent->session->ended != 0) {
    const bool ending = agent != nullptr && agent->prompts->table.is_ending(prompt.id);
    if (occurrence == Occurrence::First && !ending) withdraw(prompt, name, session, kSessionEnded);
    if (prompt.spawn) spawns_.on_not_opened(prompt.id);
    return;
  }
  OpenPrompt* open = agent->prompts->table.find(prompt.id);
  if (open == nullptr) {
    prompt.user_notified = occurrence == Occurrence::Repeated;  // by the daemon before
    const auto spawn = prompt.spawn ? prompt.id : std::string{};
    open = agent->prompts->table.add(std::move(prompt));
    if (open == nullptr) {
      if (!spawn.empty()) spawns_.on_not_opened(spawn);
      return context_.log(WriteLog::Level::Warn,
                          format("too many open prompts agent={} limit={}", name.value(), kMaxOpenPrompts));
    }
  } else if (open->is_same_request(prompt)) {
    const bool could_answer = open->can_answer();
    open->event = std::move(prompt.event);
    if (could_answer || !open->can_answer()) {
      if (auto* permission = std::get_if<events::PermissionRequested>(&open->event))
        permission->risk_level = open->decision.risk;
      return;
    }
    open->decision = std::move(prompt.decision);  // by the present rules
  } else {
    open->event = std::move(prompt.event);
    open->decision = std::move(prompt.decision);
  }
  apply_rule(*agent, *open);
}

permissions::Decision evaluate_rules(const permissions::Policy& policy, const AgentState& agent,
                                     const events::PermissionRequested& permission) {
  const auto& start = agent.record->working_directory;
  const auto& present = permission.directory.value_or(start);
  const auto from = [&](const std::string& directory) {
    return policy.decide({.agent = agent.name().value(),
                          .cli = agent.record->cli,
                          .tool = permission.tool,
                          .command = permission.command,
                          .file_path = permission.file_path,
                          .description = permission.description,
                          .directory = directory});
  };
  auto decision = from(present);
  if (present != start && decision.action != Action::Deny) {
    auto at_start = from(start);
    const auto risk = std::max(decision.risk, at_start.risk);
    if (at_start.action == Action::Deny || (decision.action == Action::Approve && at_start.action == Action::Ask))
      decision = std::move(at_start);
    else if (decision.action == Action::Approve && !is_below(present, start))
      leave_to_user(decision, format("the agent is now in {}", present));
    decision.risk = risk;
  }
  if (decision.action == Action::Approve && permission.partial.value_or(false))
    leave_to_user(decision, "the agent reported only a part of the request");
  return decision;
}

void Prompts::end_when_saved(AgentState& agent, std::string prompt) {
  agent.prompts->table.start_ending(prompt);
  commits_.when_committed([this, name = agent.name(), prompt = std::move(prompt)](CommitResult result) {
    AgentState* asker = agents_.find(name.value());
    if (asker == nullptr) return;
    asker->prompts->table.end_ending(prompt);
    if (result == CommitResult::Done) asker->prompts->table.remove(prompt);
  });
}

/// Records that the prompt ends without an outcome.
void Prompts::withdraw(const OpenPrompt& prompt, const AgentName& agent, const SessionId& session,
                       std::string_view reason) {
  if (prompt.permission() != nullptr)
    event_recorder_.record(events::PermissionResolved{.request_id = prompt.id,
                                                      .resolution = events::Resolution::Withdrawn,
                                                      .resolved_by = std::string{kNobody},
                                                      .resolved_at = context_.wall(),
                                                      .reason = std::string{reason}},
                           agent, session);
  else
    event_recorder_.record(events::QuestionResolved{.question_id = prompt.id, .resolved_by = std::string{kNobody}},
                           agent, session);
}

void Prompts::end_all(AgentState& agent) {
  agent.prompts->approved_by_rule = false;
  for (const auto& open : agent.prompts->table.take_all())
    if (!agent.prompts->table.is_ending(open.id)) withdraw(open, agent.name(), agent.session->id, kSessionEnded);
}

void Prompts::apply_rule(AgentState& agent, OpenPrompt& prompt) {
  arm_expiry(agent, prompt);
  if (prompt.answering) return;
  const auto action = prompt.permission() != nullptr && prompt.can_answer() ? prompt.decision.action : Action::Ask;
  if (context_.limits().explain)
    context_.log(WriteLog::Level::Debug,
                 format("permission decided agent={} request={} action={} rule=\"{}\" risk={}", agent.name().value(),
                        prompt.id, action_name(action), prompt.decision.rule, schema::name_of(prompt.decision.risk)));
  switch (action) {
    case Action::Ask: return notify_user(agent, prompt);
    case Action::Approve:
      if (!std::exchange(agent.prompts->approved_by_rule, true))
        context_.log(WriteLog::Level::Info,
                     format("{} is approved without the user, for the first time in this session: {}",
                            agent.name().value(), prompt.decision.rule));
      return answer(agent, prompt, {.decision = Decision::Approve, .reason = prompt.decision.rule},
                    std::string{kPolicy});
    case Action::Deny:
      return answer(agent, prompt,
                    {.decision = Decision::Deny,
                     .reason = format("One of the user's rules denies it ({}).", prompt.decision.rule)},
                    std::string{kPolicy});
  }
}

void Prompts::arm_expiry(AgentState& agent, const OpenPrompt& prompt) {
  const auto expires_at = prompt.expires_at();
  if (!expires_at || prompt.late) return;
  const auto at = context_.steady() + Millis{std::max<std::int64_t>(*expires_at - context_.wall(), 0)};
  if (agent.prompts->due && *agent.prompts->due <= at) return;
  agent.prompts->due = at;
  context_.arm(at, {.kind = TimerKind::Prompts, .name = agent.name().value()});
}

void Prompts::on_due(AgentState& agent, SteadyTime due) {
  if (agent.prompts->due != due) return;  // another one was armed for an earlier time
  agent.prompts->due.reset();
  for (auto& open : agent.prompts->table.all()) {
    const auto expires_at = open.expires_at();
    if (!expires_at || open.late) continue;
    if (*expires_at > context_.wall()) {
      arm_expiry(agent, open);
    } else if (!open.answering) {
      open.late = true;
      const auto seconds =
          std::chrono::duration_cast<std::chrono::seconds>(Millis{context_.wall() - open.requested_at}).count();
      answer(agent, open, {.decision = Decision::Timeout, .reason = format("No answer within {} seconds.", seconds)},
             std::string{kPolicy});
    }
  }
}

void Prompts::answer(AgentState& agent, OpenPrompt& prompt, PromptAnswer answer, std::string by,
                     std::optional<ClientRequest> request) {
  prompt.answering = true;
  if (prompt.spawn) return spawns_.on_decided(agent, prompt, answer, by, std::move(request));
  auto then = [this, name = agent.name(), id = prompt.id, by, request = std::move(request)](Result<void> outcome) {
    on_answered(name, id, by, request, outcome);
  };
  hosts_.answer_prompt(agent.name().value(), prompt.id, std::move(answer), std::move(by), std::move(then));
}

/// A failure is not retried: the host may have answered and could not report it. The user decides.
void Prompts::on_answered(const AgentName& name, const std::string& prompt, const std::string& by,
                          const std::optional<ClientRequest>& request, const Result<void>& outcome) {
  AgentState* agent = agents_.find(name.value());
  OpenPrompt* open = agent == nullptr ? nullptr : agent->prompts->table.find(prompt);
  if (open != nullptr) {
    open->answering = false;
    if (!outcome) {
      notify_user(*agent, *open);
      arm_expiry(*agent, *open);  // its time may have passed meanwhile
    }
  }
  if (!outcome)
    context_.log(WriteLog::Level::Info,
                 format("the answer of {} to {} was not accepted: {}", by, name.value(), outcome.error().message()));
  if (!request) return;
  respond(*request, outcome ? std::optional<Rejection>{}
                            : Rejection{protocol::nack_code_of(outcome.error()).value_or(NackCode::Busy),
                                        outcome.error().message()});
}

void Prompts::respond(const ClientRequest& request, const std::optional<Rejection>& rejected) {
  if (ConnectionState* client = requests_.finish(request)) send_answer_result(*client, request.id, rejected);
}

void Prompts::withdraw_abandoned(AgentState& agent, std::string_view prompt) {
  OpenPrompt* const open = agent.prompts->table.find(prompt);
  if (open == nullptr || open->answering || !agent.session) return;
  open->answering = true;
  withdraw(*open, agent.name(), agent.session->id, "the program that requested it has disconnected");
  end_when_saved(agent, open->id);
}

void Prompts::notify_user(const AgentState& agent, OpenPrompt& prompt) {
  if (std::exchange(prompt.user_notified, true)) return;
  const auto* permission = prompt.permission();
  context_.emit(
      NotifyUser{.agent = agent.name().value(),
                 .request = prompt.id,
                 .kind = permission != nullptr ? "permission" : "question",
                 .text = permission != nullptr ? permission->description
                                               : std::get<events::QuestionRequested>(prompt.event).question,
                 .risk = permission != nullptr ? std::string{schema::name_of(permission->risk_level)} : std::string{}});
}

}  // namespace relay::broker
