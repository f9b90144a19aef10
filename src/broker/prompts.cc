// What agents ask a person: kept while it is open, decided by rules, answered through their hosts. Everything here happens
// once the event that tells of it is stored.
#include "broker/prompts.h"

#include <algorithm>

#include "base/format.h"
#include "broker/core.h"
#include "text/json_writer.h"

namespace relay::broker {

using permissions::Action;
using protocol::ErrorCode;
using protocol::MessageType;
using protocol::NackCode;
using protocol::PromptDecision;
using text::JsonWriter;
using Decision = PromptAnswer::Decision;

namespace {

constexpr std::string_view kPolicy = "policy";
/// For a person to answer an agent that wants to start another; that agent waits a little longer (host/command_executor.cc, mcp/relay_tools.cc).
constexpr std::chrono::seconds kSpawnTimeout{600};
constexpr std::string_view kNobody = "nobody";

/// Without what is ours to judge, and what may change while it is asked.
events::Event question_in(const events::Event& told) {
  auto asked = told;
  if (auto* permission = std::get_if<events::PermissionRequested>(&asked)) {
    permission->risk_level = {};
    permission->can_answer.reset();
  } else if (auto* question = std::get_if<events::QuestionRequested>(&asked)) {
    question->can_answer.reset();
  }
  return asked;
}

bool equal(const events::Event& one, const events::Event& other) {
  if (const auto* permission = std::get_if<events::PermissionRequested>(&one)) {
    const auto* another = std::get_if<events::PermissionRequested>(&other);
    return another != nullptr && *permission == *another;
  }
  const auto* question = std::get_if<events::QuestionRequested>(&one);
  const auto* another = std::get_if<events::QuestionRequested>(&other);
  return question != nullptr && another != nullptr && *question == *another;
}

bool is_below(std::string_view directory, std::string_view top) {
  return directory.starts_with(top) && directory.substr(top.size()).starts_with('/') &&
         directory.find("/..") == std::string_view::npos;
}

void leave_to_person(permissions::Decision& decision, std::string_view why) {
  decision.action = Action::Ask;
  decision.rule = format("{} would approve it, but {}", decision.rule, why);
}

void write_permission(JsonWriter& out, const OpenPrompt& open) {
  const auto& asked = *open.permission();
  out.field("tool", asked.tool);
  const auto nullable = [&out](std::string_view name, const std::optional<std::string>& value) {
    value ? out.field(name, *value) : out.raw(name, "null");
  };
  nullable("command", asked.command);
  nullable("filePath", asked.file_path);
  if (asked.directory) out.field("directory", *asked.directory);
  out.field("description", asked.description).field("riskLevel", schema::name_of(asked.risk_level));
  out.optional("riskReason", open.decision.risk_reason).optional("rule", open.decision.rule);
  if (asked.partial.value_or(false)) out.field("partial", true);
}

void write_question(JsonWriter& out, const OpenPrompt& open) {
  const auto& asked = std::get<events::QuestionRequested>(open.event);
  out.field("question", asked.question);
  if (asked.options) {
    out.begin_array("options");
    for (const auto& option : *asked.options) out.element(option);
    out.end();
  }
  if (asked.default_answer) out.field("defaultAnswer", *asked.default_answer);
}

}  // namespace

// ---------------------------------------------------------------- what is open

bool OpenPrompt::can_answer() const {
  const auto* asked = permission();
  const auto& said = asked != nullptr ? asked->can_answer : std::get<events::QuestionRequested>(event).can_answer;
  return said.value_or(true);
}

std::optional<WallMs> OpenPrompt::expires_at() const {
  if (!decision.timeout || decision.action != Action::Ask || !can_answer()) return std::nullopt;
  return asked_at + std::chrono::duration_cast<Millis>(*decision.timeout).count();
}

bool OpenPrompt::asks_like(const OpenPrompt& other) const {
  return equal(question_in(event), question_in(other.event));
}

std::optional<OpenPrompt> parse_prompt(const events::Event& event, const json::object& object, WallMs now) {
  std::string id;
  if (const auto* permission = std::get_if<events::PermissionRequested>(&event))
    id = permission->request_id;
  else if (const auto* question = std::get_if<events::QuestionRequested>(&event))
    id = question->question_id;
  else
    return std::nullopt;
  const auto told_at = integer_member(object, "_ts").value_or(now);
  return OpenPrompt{std::move(id), event, std::clamp<WallMs>(told_at, 0, std::max<WallMs>(now, 0))};
}

std::string resolved_prompt_id(const events::Event& event) {
  if (const auto* permission = std::get_if<events::PermissionResolved>(&event)) return permission->request_id;
  if (const auto* question = std::get_if<events::QuestionResolved>(&event)) return question->question_id;
  return {};
}

OpenPrompt* PromptTable::find(std::string_view id) {
  const auto found = std::ranges::find(open_, id, &OpenPrompt::id);
  return found == open_.end() ? nullptr : &*found;
}

const OpenPrompt* PromptTable::told_last(std::string_view id) const {
  const auto storing = std::ranges::find(storing_.rbegin(), storing_.rend(), id, &OpenPrompt::id);
  if (storing != storing_.rend()) return &*storing;
  const auto open = std::ranges::find(open_, id, &OpenPrompt::id);
  return open == open_.end() ? nullptr : &*open;
}

void PromptTable::end_storing(std::string_view id) {
  if (const auto first = std::ranges::find(storing_, id, &OpenPrompt::id); first != storing_.end())
    storing_.erase(first);
}

void PromptTable::end_ending(std::string_view id) {
  if (const auto first = std::ranges::find(ending_, id); first != ending_.end()) ending_.erase(first);
}

OpenPrompt* PromptTable::add(OpenPrompt request) {
  if (open_.size() >= kMaxRequests) return nullptr;
  return &open_.emplace_back(std::move(request));
}

bool PromptTable::remove(std::string_view id) {
  const auto found = std::ranges::find(open_, id, &OpenPrompt::id);
  if (found == open_.end()) return false;
  remember_closed(found->id);
  open_.erase(found);
  return true;
}

std::deque<OpenPrompt> PromptTable::take_all() {
  for (const auto& open : open_) remember_closed(open.id);
  return std::exchange(open_, {});
}

void PromptTable::remember_closed(const std::string& id) {
  closed_.push_back(id);
  if (closed_.size() > kMaxClosedRequests) closed_.pop_front();
}

/// The log has a request once for each session, however often it is told; what is known of it may grow.
void Core::take_request(AgentState& agent, OpenPrompt request, Occurrence told) {
  if (auto* asked = std::get_if<events::PermissionRequested>(&request.event)) {
    request.decision = evaluate_rules(agent, *asked);
    if (request.spawn && !request.decision.timeout) request.decision.timeout = kSpawnTimeout;
    asked->risk_level = request.decision.risk;
  }
  if (const auto* known = agent.requests.told_last(request.id); known != nullptr)
    told = known->asks_like(request) ? Occurrence::Repeated : Occurrence::First;
  if (told == Occurrence::First) change(event_row(request.event, agent.name(), agent.session->id));
  agent.requests.begin_storing(request);
  when_committed([this, name = agent.name(), session = agent.session->id, request = std::move(request),
                  told](CommitResult saving) mutable {
    if (AgentState* asker = find_agent(name.value())) asker->requests.end_storing(request.id);
    if (saving == CommitResult::Done) return open_request(name, session, std::move(request), told);
    if (request.spawn) refuse_pending_spawn(request.id);
  });
}

void Core::open_request(const AgentName& name, const SessionId& session, OpenPrompt request, Occurrence told) {
  AgentState* agent = find_agent(name.value());
  if (agent == nullptr || !agent->session || agent->session->id != session || agent->session->ended != 0) {
    const bool ending = agent != nullptr && agent->requests.is_ending(request.id);
    if (told == Occurrence::First && !ending) withdraw(request, name, session);
    if (request.spawn) refuse_pending_spawn(request.id);
    return;
  }
  OpenPrompt* open = agent->requests.find(request.id);
  if (open == nullptr) {
    request.person_wanted = told == Occurrence::Repeated;  // whoever was here then has told him
    const auto spawn = request.spawn ? request.id : std::string{};
    open = agent->requests.add(std::move(request));
    if (open == nullptr) {
      if (!spawn.empty()) refuse_pending_spawn(spawn);
      return note(WriteLog::Level::Warn,
                  format("{} asks {} things already; one more is in the log only", name.value(), kMaxRequests));
    }
  } else if (open->asks_like(request)) {
    const bool could = open->can_answer();
    open->event = std::move(request.event);
    if (could || !open->can_answer()) {
      if (auto* asked = std::get_if<events::PermissionRequested>(&open->event)) asked->risk_level = open->decision.risk;
      return;
    }
    open->decision = std::move(request.decision);  // by the rules of today
  } else {
    open->event = std::move(request.event);
    open->decision = std::move(request.decision);
  }
  apply_rule(*agent, *open);
}

void Core::end_request_when_saved(AgentState& agent, std::string request) {
  agent.requests.begin_ending(request);
  when_committed([this, name = agent.name(), request = std::move(request)](CommitResult saving) {
    AgentState* known = find_agent(name.value());
    if (known == nullptr) return;
    known->requests.end_ending(request);
    if (saving == CommitResult::Done) known->requests.remove(request);
  });
}

/// Nobody will say what became of it.
void Core::withdraw(const OpenPrompt& request, const AgentName& agent, const SessionId& session,
                    std::string_view reason) {
  if (request.permission() != nullptr)
    record_event(events::PermissionResolved{.request_id = request.id,
                                            .resolution = events::Resolution::Withdrawn,
                                            .resolved_by = std::string{kNobody},
                                            .resolved_at = now_.wall,
                                            .reason = std::string{reason}},
                 agent, session);
  else
    record_event(events::QuestionResolved{.question_id = request.id, .resolved_by = std::string{kNobody}}, agent,
                 session);
}

void Core::end_requests(AgentState& agent) {
  agent.approved_by_rule = false;
  for (const auto& open : agent.requests.take_all())
    if (!agent.requests.is_ending(open.id)) withdraw(open, agent.name(), agent.session->id);
}

// ---------------------------------------------------------------- rules

/// Where an agent has gone elsewhere than it was started, a rule must say the same of both places.
permissions::Decision Core::evaluate_rules(const AgentState& agent, const events::PermissionRequested& asked) const {
  const auto& home = agent.record.working_directory;
  const auto& place = asked.directory.value_or(home);
  const auto from = [&](const std::string& directory) {
    return policy_->decide({.agent = agent.name().value(),
                            .cli = agent.record.cli,
                            .tool = asked.tool,
                            .command = asked.command,
                            .file_path = asked.file_path,
                            .description = asked.description,
                            .directory = directory});
  };
  auto decision = from(place);
  if (place != home && decision.action != Action::Deny) {
    auto at_home = from(home);
    const auto risk = std::max(decision.risk, at_home.risk);
    if (at_home.action == Action::Deny || (decision.action == Action::Approve && at_home.action == Action::Ask))
      decision = std::move(at_home);
    else if (decision.action == Action::Approve && !is_below(place, home))
      leave_to_person(decision, format("the agent has gone to {}", place));
    decision.risk = risk;
  }
  if (decision.action == Action::Approve && asked.partial.value_or(false))
    leave_to_person(decision, "only a part of it is known");
  return decision;
}

void Core::apply_rule(AgentState& agent, OpenPrompt& open) {
  arm_expiry_of(agent, open);
  if (open.replying) return;
  const auto action = open.permission() != nullptr && open.can_answer() ? open.decision.action : Action::Ask;
  if (limits_.explain)
    note(WriteLog::Level::Debug,
         format("permission decided agent={} request={} action={} rule=\"{}\" risk={}", agent.name().value(), open.id,
                action == Action::Approve ? "approve"
                : action == Action::Deny  ? "deny"
                                          : "ask",
                open.decision.rule, schema::name_of(open.decision.risk)));
  switch (action) {
    case Action::Ask: return notify_user(agent, open);
    case Action::Approve:
      if (!std::exchange(agent.approved_by_rule, true))
        note(WriteLog::Level::Info, format("{} is approved without a person being asked, for the first time in this "
                                           "session: {}",
                                           agent.name().value(), open.decision.rule));
      return reply_to(agent, open, {.verdict = Decision::Allow, .reason = open.decision.rule}, std::string{kPolicy});
    case Action::Deny:
      return reply_to(agent, open,
                      {.verdict = Decision::Deny,
                       .reason = format("A rule of this machine's person denies it ({}).", open.decision.rule)},
                      std::string{kPolicy});
  }
}

void Core::arm_expiry_of(AgentState& agent, const OpenPrompt& open) {
  const auto expires_at = open.expires_at();
  if (!expires_at || open.late) return;
  const auto at = now_.steady + Millis{std::max<std::int64_t>(*expires_at - now_.wall, 0)};
  if (agent.requests_due && *agent.requests_due <= at) return;
  agent.requests_due = at;
  timers_.arm(at, {.kind = TimerKind::Requests, .name = agent.name().value()});
}

void Core::requests_due(AgentState& agent, SteadyTime due) {
  if (agent.requests_due != due) return;  // another one was armed for an earlier time
  agent.requests_due.reset();
  for (auto& open : agent.requests.all()) {
    const auto expires_at = open.expires_at();
    if (!expires_at || open.late) continue;
    if (*expires_at > now_.wall) {
      arm_expiry_of(agent, open);
    } else if (!open.replying) {
      open.late = true;
      const auto waited = std::chrono::duration_cast<std::chrono::seconds>(Millis{now_.wall - open.asked_at}).count();
      reply_to(agent, open,
               {.verdict = Decision::Timeout, .reason = format("Nobody answered within {} seconds.", waited)},
               std::string{kPolicy});
    }
  }
}

void Core::reply_to(AgentState& agent, OpenPrompt& open, PromptAnswer reply, std::string by,
                    std::optional<QueryId> asked) {
  open.replying = true;
  if (open.spawn) return decide_spawn(agent, open, reply, by, asked);
  const QueryId id = asked ? *asked : QueryId{next_query_++};
  replying_.emplace(id, PendingAnswer{agent.name(), open.id, by, asked});
  emit(AnswerPrompt{id, agent.name().value(), open.id, std::move(reply), std::move(by)});
}

/// Whatever went wrong is not tried again: the host may have said what it did not get to tell us. A person looks.
void Core::host_answered(QueryId id, Result<void> outcome) {
  auto place = replying_.extract(id);
  if (place.empty()) return;
  const PendingAnswer& replying = place.mapped();
  AgentState* agent = find_agent(replying.agent.value());
  OpenPrompt* open = agent == nullptr ? nullptr : agent->requests.find(replying.request);
  if (open != nullptr) {
    open->replying = false;
    if (!outcome) {
      notify_user(*agent, *open);
      arm_expiry_of(*agent, *open);  // its time may have passed meanwhile
    }
  }
  if (!outcome)
    note(WriteLog::Level::Info, format("what {} said to {} was not taken: {}", replying.by, replying.agent.value(),
                                       outcome.error().message()));
  if (!replying.asked) return;
  const auto asked = take_asked(*replying.asked);
  ConnectionState* connection = asked ? find(asked->connection) : nullptr;
  if (connection == nullptr || connection->phase != Phase::Active) return;
  notify_answered(
      *connection, asked->request_id,
      outcome ? std::optional<Rejection>{}
              : Rejection{protocol::nack_code_of(outcome.error()).value_or(NackCode::Busy), outcome.error().message()});
}

void Core::notify_user(const AgentState& agent, OpenPrompt& open) {
  if (std::exchange(open.person_wanted, true)) return;
  const auto* asked = open.permission();
  emit(NotifyUser{
      .agent = agent.name().value(),
      .request = open.id,
      .kind = asked != nullptr ? "permission" : "question",
      .text = asked != nullptr ? asked->description : std::get<events::QuestionRequested>(open.event).question,
      .risk = asked != nullptr ? std::string{schema::name_of(asked->risk_level)} : std::string{}});
}

// ---------------------------------------------------------------- PROMPTS, ANSWER

void Core::on_prompts(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_prompts(envelope.payload);
  if (!wanted) return error(connection, ErrorCode::BadRequest, wanted.error().message());
  JsonWriter payload;
  if (!wanted->empty() && find_agent(*wanted) == nullptr)
    payload.field("error", unknown_recipient(*wanted)).field("code", name_of(NackCode::UnknownRecipient));
  struct Row {
    const AgentState* agent;
    const OpenPrompt* open;
  };
  std::vector<Row> rows;
  for (const auto& [name, agent] : agents_)
    if (wanted->empty() || name == *wanted)
      for (const auto& open : agent.requests.all()) rows.push_back({&agent, &open});
  std::ranges::sort(rows, [](const Row& a, const Row& b) {
    return std::tie(a.open->asked_at, a.agent->name()) < std::tie(b.open->asked_at, b.agent->name());
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
      payload.field("requestedAt", open->asked_at);
      if (const auto expires_at = open->expires_at(); expires_at && !open->late)
        payload.field("expiresAt", *expires_at);
      payload.field("canAnswer", open->can_answer() && agent->connected()).end();
    }
    payload.end();
  };
  list("permissions", "requestId", true, write_permission);
  list("questions", "questionId", false, write_question);
  if (more) payload.field("more", true);
  respond(connection, MessageType::PromptsResponse, envelope.id, payload.take());
}

void Core::on_answer(ConnectionState& connection, const protocol::Envelope& envelope) {
  auto wanted = protocol::parse_answer(envelope.payload);
  const auto objection =
      wanted ? check_answer(connection, *wanted) : Rejection{NackCode::BadRequest, wanted.error().message()};
  if (objection) return notify_answered(connection, envelope.id, objection);
  AgentState& agent = *find_agent(wanted->agent);
  const QueryId asked = add_question(connection, envelope.id, MessageType::AnswerResult);
  // Whoever has a session is known by it; the command line speaks for a person.
  auto by = !connection.query_only ? connection.agent.value()
            : wanted->by.empty()   ? std::string{protocol::kUserName}
                                   : std::move(wanted->by);
  reply_to(agent, *agent.requests.find(wanted->request),
           {.verdict = wanted->decision == PromptDecision::Deny ? Decision::Deny : Decision::Allow,
            .reason = std::move(wanted->reason),
            .answers = std::move(wanted->answers)},
           std::move(by), asked);
}

std::optional<Core::Rejection> Core::check_answer(const ConnectionState& connection,
                                                  const protocol::AnswerRequest& answer) {
  if (auto refused = require_user(connection, "answer what an agent asks")) return refused;
  AgentState* agent = find_agent(answer.agent);
  if (agent == nullptr) return Rejection{NackCode::UnknownRecipient, unknown_recipient(answer.agent)};
  const OpenPrompt* open = agent->requests.find(answer.request);
  if (open == nullptr && agent->requests.was_open(answer.request))
    return Rejection{NackCode::Stale,
                     format("{} does not ask {} any more: it was answered or withdrawn", answer.agent, answer.request)};
  if (open == nullptr)
    return Rejection{
        NackCode::NotFound,
        format("{} has no request {}; list the pending ones with: agent-relay permissions, agent-relay questions",
               answer.agent, answer.request)};
  if (!connection.query_only && connection.agent == agent->name())
    return Rejection{NackCode::BadRequest, "an agent does not answer itself; the user does"};
  if (open->permission() != nullptr && !answer.decision)
    return Rejection{NackCode::BadRequest, "a permission is approved or denied: say \"decision\""};
  if (open->permission() == nullptr && answer.decision != PromptDecision::Deny && answer.answers.empty())
    return Rejection{NackCode::BadRequest, "a question is answered with \"answers\", or denied"};
  if (!open->can_answer())
    return Rejection{
        NackCode::Unsupported,
        format("{} asks on its own screen alone; answer it there: agent-relay attach {}", answer.agent, answer.agent)};
  if (!agent->connected())
    return Rejection{NackCode::Busy, format("{} is not here at the moment, and cannot be told", answer.agent),
                     kBusyRetryMs};
  if (open->replying)
    return Rejection{NackCode::Busy, format("{} is being answered at this moment", answer.request), kBusyRetryMs};
  if (connection.open_queries >= limits_.max_open_queries)
    return Rejection{NackCode::Busy,
                     format("{} questions are open already; wait for an answer", connection.open_queries),
                     kBusyRetryMs};
  return std::nullopt;
}

void Core::notify_answered(ConnectionState& connection, std::string_view request_id,
                           const std::optional<Rejection>& objection) {
  JsonWriter payload;
  payload.field("replyTo", request_id).field("success", !objection.has_value());
  if (objection) payload.field("error", objection->sentence).field("code", name_of(objection->refusal));
  send_new(connection, MessageType::AnswerResult, payload.take());
}

}  // namespace relay::broker
