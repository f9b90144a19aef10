// Agents that run for others: SPAWN, RELEASE, SEND_INPUT, LIST_WORKERS. What they ask is done outside; the task of a new
// agent is a message like any other, and SPAWN_RESULT leaves once it is stored.
#include <algorithm>

#include "base/format.h"
#include "broker/core.h"
#include "records/short_id.h"
#include "text/json_writer.h"
#include "text/utf8.h"

namespace relay::broker {

using protocol::MessageType;
using protocol::NackCode;
using text::JsonWriter;

namespace {

constexpr std::size_t kMaxSpawned = 1'024;
constexpr Millis kMaxSpawnDelay{60'000};  // from the start of a host to its HELLO

constexpr std::size_t kMaxTaskLength = 200;  // of what listings show of a task
constexpr Millis kMaxLeaving{2'000};         // between the end of an agent and that of its connection

std::string as_message(std::string_view task) {
  if (task.empty()) return {};
  JsonWriter payload;
  payload.field("kind", "message").field("body", task);
  return payload.take();
}

/// One line that fits a listing and a command line.
std::string shown_task(std::string_view task) {
  std::size_t end = 0;
  std::string shown;
  for (std::size_t letters = 0; letters < kMaxTaskLength && end < task.size(); ++letters) {
    const std::size_t begin = end;
    text::next_code_point(task, end);
    const auto letter = task.substr(begin, end - begin);
    shown += text::has_control_characters(letter) ? " " : letter;
  }
  return shown;
}

}  // namespace

void Core::on_spawn(ConnectionState& connection, const protocol::Envelope& envelope) {
  auto wanted = protocol::parse_spawn(envelope.payload);
  if (!wanted) {
    const auto name = protocol::parse_name(envelope.payload);
    return refuse_worker(connection, envelope, MessageType::SpawnResult, name ? *name : std::string{},
                         {NackCode::BadRequest, wanted.error().message()});
  }
  if (!is_spawn_by_agent(connection)) return start_worker(connection, envelope, *std::move(wanted));
  wanted->environment.clear();  // an agent could name other programs by its PATH
  const auto refuse = [&](NackCode refusal, std::string why) {
    refuse_worker(connection, envelope, MessageType::SpawnResult, wanted->name, {refusal, std::move(why)});
  };
  if (auto why = refusal_of_spawn(*spawn_policy_, *wanted)) {
    note(WriteLog::Level::Info, format("an agent may not start {}", command_line_of(*wanted)));
    return refuse(NackCode::Refused, *std::move(why));
  }
  if (spawn_policy_->by_agents == SpawnByAgents::Profiles)
    return start_worker(connection, envelope, *std::move(wanted), SpawnPlace::InsideProject);
  AgentState* const asker = spawning_agent(connection, *wanted);
  if (asker == nullptr)
    return refuse(NackCode::Refused,
                  "your user is asked only for agents that are connected; ask them to run `agent-relay "
                  "spawn` themselves");
  ask_about_spawn(*asker, connection, envelope, *std::move(wanted));
}

/// The origin says where the process belongs. A session that keeps messages for somebody (`delivery.queue`) is a host's or
/// an MCP server's, also where the agent around it was started without us.
bool Core::is_spawn_by_agent(const ConnectionState& connection) {
  if (!connection.peer.origin.is_user()) return true;
  return !connection.query_only && connection.capabilities.queue;
}

AgentState* Core::spawning_agent(const ConnectionState& connection, const protocol::SpawnRequest& wanted) {
  const auto& origin = connection.peer.origin;
  AgentState* const agent = find_agent(!origin.agent.empty()   ? origin.agent
                                       : connection.query_only ? wanted.spawner
                                                               : connection.agent.value());
  return agent != nullptr && agent->connected() && agent->session ? agent : nullptr;
}

void Core::ask_about_spawn(AgentState& asker, const ConnectionState& connection, const protocol::Envelope& envelope,
                           protocol::SpawnRequest wanted) {
  const auto own =
      std::ranges::count(pending_spawns_, connection.id, [](const auto& one) { return one.second.connection; });
  if (static_cast<std::size_t>(own) >= limits_.max_starting_each)
    return refuse_worker(
        *find(connection.id), envelope, MessageType::SpawnResult, wanted.name,
        {NackCode::Busy, format("your user is asked about {} agents already; wait for an answer", own)});
  const auto command = command_line_of(wanted);
  const auto task = shown_task(wanted.task);
  OpenPrompt request;
  request.id = format("{}-spawn{}", asker.session->id.value(), ++last_spawn_request_);
  request.asked_at = now_.wall;
  request.spawn = true;
  events::PermissionRequested told{.request_id = request.id,
                                   .tool = "spawn",
                                   .command = command,
                                   .description = format("start the agent {}: {}{}", wanted.name, command,
                                                         task.empty() ? "" : format(" (its task: {})", task))};
  if (!wanted.directory.empty()) told.directory = wanted.directory;
  request.event = std::move(told);
  pending_spawns_.emplace(request.id, SpawnApproval{.connection = connection.id,
                                                    .asker = asker.name(),
                                                    .request_id = std::string{envelope.id},
                                                    .claim_token = std::string{envelope.claim_token},
                                                    .wanted = std::move(wanted)});
  take_request(asker, std::move(request), Occurrence::First);
}

/// A person, or a rule of theirs, has answered; or nobody did in time.
void Core::decide_spawn(AgentState& asker, OpenPrompt& open, const PromptAnswer& reply, const std::string& by,
                        std::optional<QueryId> asked) {
  const bool allowed = reply.verdict == PromptAnswer::Decision::Allow;
  const bool late = reply.verdict == PromptAnswer::Decision::Timeout;
  record_event(events::PermissionResolved{.request_id = open.id,
                                          .resolution = allowed ? events::Resolution::Approved
                                                        : late  ? events::Resolution::Timeout
                                                                : events::Resolution::Denied,
                                          .resolved_by = by,
                                          .resolved_at = now_.wall,
                                          .reason = reply.reason.empty() ? std::nullopt : std::optional{reply.reason}},
               asker);
  end_request_when_saved(asker, open.id);
  auto pending = pending_spawns_.extract(open.id);
  ConnectionState* const connection = pending.empty() ? nullptr : find(pending.mapped().connection);
  const bool there = connection != nullptr && connection->phase == Phase::Active;
  if (!there) return notify_approver(asked, Rejection{NackCode::Stale, "the agent that asked does not wait any more"});
  const SpawnApproval& spawn = pending.mapped();
  protocol::Envelope envelope;
  envelope.id = spawn.request_id;
  envelope.claim_token = spawn.claim_token;
  if (allowed) return start_worker(*connection, envelope, spawn.wanted, SpawnPlace::Anywhere, asked);
  notify_approver(asked, std::nullopt);
  refuse_worker(*connection, envelope, MessageType::SpawnResult, spawn.wanted.name,
                {NackCode::Refused, late ? "your user was asked and did not answer; go on without it"
                                         : format("your user said no{}; go on without it",
                                                  reply.reason.empty() ? "" : format(" ({})", reply.reason))});
}

Core::Rejection Core::not_started(std::string_view name, const Rejection& reason) {
  return {reason.refusal, format("approved, but {} did not start: {}", name, reason.sentence), reason.retry_after_ms};
}

void Core::notify_approver(std::optional<QueryId> approval, const std::optional<Rejection>& objection) {
  const auto question = approval ? take_asked(*approval) : std::nullopt;
  ConnectionState* const connection = question ? find(question->connection) : nullptr;
  if (connection == nullptr || connection->phase != Phase::Active) return;
  notify_answered(*connection, question->request_id, objection);
}

/// The request did not come before a person.
void Core::refuse_pending_spawn(const std::string& request) {
  const auto pending = pending_spawns_.extract(request);
  ConnectionState* const connection = pending.empty() ? nullptr : find(pending.mapped().connection);
  if (connection == nullptr || connection->phase != Phase::Active) return;
  protocol::Envelope envelope;
  envelope.id = pending.mapped().request_id;
  refuse_worker(*connection, envelope, MessageType::SpawnResult, pending.mapped().wanted.name,
                {NackCode::Busy, "your user could not be asked at the moment; try again later"});
}

/// Whoever asked is gone: nobody would hear the answer.
void Core::drop_pending_spawns(ConnectionId connection) {
  for (auto place = pending_spawns_.begin(); place != pending_spawns_.end();) {
    if (place->second.connection != connection) {
      ++place;
      continue;
    }
    AgentState* const asker = find_agent(place->second.asker.value());
    OpenPrompt* const open = asker == nullptr ? nullptr : asker->requests.find(place->first);
    if (open != nullptr && !open->replying && asker->session) {
      open->replying = true;
      withdraw(*open, asker->name(), asker->session->id, "the program that asked does not wait any more");
      end_request_when_saved(*asker, open->id);
    }
    place = pending_spawns_.erase(place);
  }
}

void Core::start_worker(ConnectionState& connection, const protocol::Envelope& envelope, protocol::SpawnRequest wanted,
                        SpawnPlace place, std::optional<QueryId> approval) {
  // Whoever has a session is known by it; the command line speaks for a person.
  const bool speaks_for_another = connection.query_only && !wanted.spawner.empty();
  PendingSpawn starting{.connection = connection.id,
                        .name = wanted.name,
                        .from = speaks_for_another ? AgentName{wanted.spawner} : connection.agent,
                        .session = connection.session,
                        .as_user = gives_task_as_user(connection, wanted, envelope.claim_token),
                        .task = as_message(wanted.task),
                        .cli = wanted.argv.empty() ? std::string{} : wanted.argv.front(),
                        .words = wanted.task,
                        .role = wanted.role,
                        .approval = approval};
  if (const auto objection = check_spawn(connection, wanted, starting, envelope.claim_token)) {
    notify_approver(approval, not_started(wanted.name, *objection));
    return refuse_worker(connection, envelope, MessageType::SpawnResult, wanted.name, *objection);
  }
  const auto id = ask_host(connection, envelope, MessageType::SpawnResult, wanted.name);
  if (!id)
    return notify_approver(
        approval, not_started(wanted.name, {NackCode::Busy, "the agent that asked has too many open requests"}));
  if (!starting.task.empty() && speaks_for_another) register_one_shot_sender(wanted.spawner);
  emit(StartHost{*id,
                 {.name = std::move(wanted.name),
                  .words = std::move(wanted.argv),
                  .directory = std::move(wanted.directory),
                  .inside_project = place == SpawnPlace::InsideProject,
                  .spawner = starting.from.value(),
                  .team = std::move(wanted.team),
                  .model = std::move(wanted.model),
                  .task = shown_task(wanted.task),
                  .environment = std::move(wanted.environment)}});
  starting_.emplace(*id, std::move(starting));
}

std::optional<Core::Rejection> Core::check_spawn(const ConnectionState& connection,
                                                 const protocol::SpawnRequest& wanted, const PendingSpawn& starting,
                                                 std::string_view claim_token) {
  if (!wanted.shadow_of.empty())
    return Rejection{NackCode::Unsupported,
                     "an agent is not started as a shadow here; start it, and let it say SHADOW_BIND itself"};
  if (auto reason = confusable_reason(wanted.name); !reason.empty())
    return Rejection{NackCode::BadRequest, std::move(reason)};
  AgentState* known = find_agent(wanted.name);
  if (known != nullptr && known->connected())
    return Rejection{
        NackCode::NotOwner,
        format("'{}' is connected already; choose another name, or end it first (agent-relay release, /quit in a chat)",
               wanted.name)};
  if (is_starting(wanted.name))
    return Rejection{NackCode::NotOwner, format("'{}' is being started already; choose another name", wanted.name)};
  if (known != nullptr && known->removing)
    return Rejection{NackCode::Busy, format("'{}' is being removed; try again in a moment", wanted.name)};
  const auto own = std::ranges::count(starting_, connection.id, [](const auto& one) { return one.second.connection; });
  if (starting_.size() >= limits_.max_starting || static_cast<std::size_t>(own) >= limits_.max_starting_each)
    return Rejection{NackCode::Busy,
                     format("{} agents are being started already; wait for one of them", starting_.size())};
  if (known == nullptr && !has_room_for_name(starting_.size()))
    return Rejection{NackCode::Busy, format("{} agents are known already; remove one first", agents_.size())};
  if (starting.task.empty()) return std::nullopt;

  if (starting.from.value() == wanted.name)
    return Rejection{NackCode::BadRequest, format("'{}' cannot give itself a task; choose another name", wanted.name)};
  if (store_ != StoreHealth::Healthy)
    return Rejection{NackCode::Storage, "the task cannot be stored at the moment; try again"};
  constexpr std::size_t kMost = protocol::kMaxFrameBytes - protocol::kEnvelopeReserveBytes;
  if (starting.task.size() > kMost)
    return Rejection{NackCode::TooLarge, format("a task may have {} bytes, this one has {}; send it as a file", kMost,
                                                starting.task.size())};
  if (known != nullptr && known->mailbox.pending >= limits_.max_backlog)
    return Rejection{NackCode::Busy, format("{} messages wait for {} already; choose another name",
                                            known->mailbox.pending, wanted.name)};
  if (streams_.size() + starting_.size() >= limits_.max_streams &&
      !streams_.contains({}, starting.from, AgentName{wanted.name}, {}))
    return Rejection{NackCode::Busy, format("{} pairs of agents have numbers already", streams_.size())};
  if (connection.query_only && !wanted.spawner.empty())
    return check_one_shot_sender(connection, wanted.spawner, claim_token);
  return std::nullopt;
}

bool Core::is_starting(std::string_view name) const {
  return std::ranges::any_of(starting_, [&](const auto& one) { return one.second.name == name; });
}

void Core::host_started(QueryId id, Result<std::int32_t> pid) {
  const auto asked = take_asked(id);
  auto place = starting_.extract(id);
  if (!asked || place.empty()) return;
  PendingSpawn& started = place.mapped();
  if (!pid) {
    note(WriteLog::Level::Info,
         format("{} was not started for {}: {}", started.name, started.from.value(), pid.error().message()));
    notify_approver(started.approval, not_started(started.name, {NackCode::Refused, pid.error().message()}));
    return notify_worker(*asked, Failure{pid.error()});
  }
  note(WriteLog::Level::Info, format("{} was started for {} (pid {})", started.name, started.from.value(), *pid));
  notify_approver(started.approval, std::nullopt);
  const auto said = [](const std::string& text) {
    return text.empty() ? std::optional<std::string>{} : std::optional{text};
  };
  record_spawned(started.name, {.agent_name = started.name,
                                .cli = started.cli,
                                .spawned_by = started.from.value(),
                                .task = said(started.words),
                                .role = said(started.role)});
  const auto tell = [this, asked = *asked, pid = *pid](const std::string& task_id) {
    ConnectionState* asker = find(asked.connection);
    if (asker == nullptr || asker->phase != Phase::Active) return;
    JsonWriter payload;
    payload.field("replyTo", asked.request_id).field("success", true).field("name", asked.name).field("pid", pid);
    payload.optional("taskId", task_id);
    send_new(*asker, asked.answer, payload.take());
  };
  if (started.task.empty()) return tell({});
  // Nobody would give the task again, so it is stored however many tries that takes; whoever asked hears of it then.
  ConnectionState* asker = find(started.connection);
  const std::size_t charged = asker != nullptr ? started.task.size() : 0;
  if (asker != nullptr) charge(*asker, charged, limits_.max_remembered_bytes);
  const std::string task_id = post_task(started);
  when_saved([this, tell, task_id, charged, id = started.connection] {
    release_uncommitted(find(id), charged);
    tell(task_id);
  });
}

/// Told with the session it began: at once when the host has said HELLO, else when it does.
void Core::record_spawned(const std::string& name, events::AgentSpawned event) {
  if (const AgentState* agent = find_agent(name); agent != nullptr && agent->connected() && agent->session)
    return record_event(event, *agent);
  std::erase_if(spawned_, [&](const auto& one) {
    const bool never_came = now_.steady - one.second.at > kMaxSpawnDelay;
    if (never_came) record_event(one.second.event, AgentName{one.first}, {});
    return never_came;
  });
  if (spawned_.size() >= kMaxSpawned) return record_event(event, AgentName{name}, {});
  spawned_.insert_or_assign(name, Spawned{std::move(event), now_.steady});
}

void Core::record_if_spawned(const AgentState& agent) {
  const auto spawned = spawned_.extract(agent.name().value());
  if (spawned.empty()) return;
  const bool came = now_.steady - spawned.mapped().at <= kMaxSpawnDelay;
  change(event_row(spawned.mapped().event, agent.name(), came ? agent.session->id : SessionId{}));
}

std::string Core::post_task(PendingSpawn& started) {
  AgentState& agent = register_one_shot_sender(started.name);  // known before it said HELLO: its task waits for it
  records::Message message;
  message.from = started.from;
  message.to = started.name;
  message.kind = "message";
  message.payload = std::move(started.task);
  message.session = started.as_user ? SessionId{std::string{records::kUserSession}} : started.session;
  return records::short_id(post(std::move(message), {&agent}, Copies::ForShadows));
}

void Core::on_release(ConnectionState& connection, const protocol::Envelope& envelope) {
  auto wanted = protocol::parse_release(envelope.payload);
  if (!wanted)
    return refuse_worker(connection, envelope, MessageType::ReleaseResult, {},
                         {NackCode::BadRequest, wanted.error().message()});
  if (is_starting(wanted->name))
    return refuse_worker(
        connection, envelope, MessageType::ReleaseResult, wanted->name,
        {NackCode::Busy, format("'{}' is being started; release it when its SPAWN is answered", wanted->name)});
  const auto& origin = connection.peer.origin;
  const bool nameless = connection.query_only && origin.agent.empty();  // an agent ends itself and those it started
  if (const auto refused = nameless ? require_user(connection, "end an agent") : std::nullopt)
    return refuse_worker(connection, envelope, MessageType::ReleaseResult, wanted->name, *refused);
  const auto id = ask_host(connection, envelope, MessageType::ReleaseResult, wanted->name);
  if (!id) return;
  // A session is known by its name, a process inside an agent by that agent; the user's programs say who asks.
  std::string by = connection.agent.value();
  if (connection.query_only && origin.is_agent() && !origin.agent.empty())
    by = origin.agent;
  else if (connection.query_only)
    by = wanted->by.empty() ? std::string{protocol::kUserName} : wanted->by;
  asked_[*id].release = {std::move(by), wanted->reason, !origin.is_user()};
  AgentState* agent = find_agent(wanted->name);
  if (agent != nullptr && agent->session && agent->session->ended == 0 && !agent->releasing)
    agent->releasing = asked_[*id].release;
  emit(StopHost{*id, std::move(wanted->name), asked_[*id].release});
}

void Core::on_send_input(ConnectionState& connection, const protocol::Envelope& envelope) {
  auto wanted = protocol::parse_send_input(envelope.payload);
  if (!wanted)
    return refuse_worker(connection, envelope, MessageType::SendInputResult, {},
                         {NackCode::BadRequest, wanted.error().message()});
  if (const auto refused = require_user(connection, "type into an agent"))
    return refuse_worker(connection, envelope, MessageType::SendInputResult, wanted->name, *refused);
  if (const auto id = ask_host(connection, envelope, MessageType::SendInputResult, wanted->name))
    emit(SendHostInput{*id, std::move(wanted->name), std::move(wanted->data)});
}

void Core::host_done(QueryId id, Result<void> outcome) {
  const auto place = asked_.find(id);
  if (place == asked_.end()) return;
  const PendingQuery& asked = place->second;
  AgentState* agent = find_agent(asked.name);
  if (asked.answer == MessageType::ReleaseResult) {
    if (!outcome && agent != nullptr) agent->releasing.reset();
    if (outcome && (agent == nullptr || !agent->session))  // its host never said HELLO: no session ends
      record_release(AgentName{asked.name}, {}, asked.release);
  }
  // Whoever hears that it is gone may give its name to the next one at once.
  if (outcome && asked.answer == MessageType::ReleaseResult && agent != nullptr && agent->connected()) {
    const SteadyTime due = now_.steady + kMaxLeaving;
    leaving_.emplace(asked.name, PendingRelease{id, due});
    return timers_.arm(due, {.kind = TimerKind::Leaving, .name = asked.name});
  }
  if (outcome && agent != nullptr && agent->releasing) end_session(*agent, {});  // it went without a word
  notify_worker(*take_asked(id), outcome);
}

void Core::notify_released(const std::string& name, SteadyTime due_by) {
  const auto [begin, end] = leaving_.equal_range(name);
  if (AgentState* agent = find_agent(name); begin != end && agent != nullptr && agent->releasing) {
    if (agent->connected())
      agent->releasing.reset();  // it is still there, and may end in another way
    else
      end_session(*agent, {});
  }
  for (auto place = begin; place != end;) {
    if (place->second.due > due_by) {
      ++place;
      continue;
    }
    const auto asked = take_asked(place->second.id);
    place = leaving_.erase(place);
    if (asked) notify_worker(*asked, {});
  }
}

void Core::record_release(const AgentName& name, const SessionId& session, const Release& release) {
  record_event(events::AgentReleased{.agent_name = name.value(), .released_by = release.by, .reason = release.reason},
               name, session);
}

void Core::on_list_workers(ConnectionState& connection, const protocol::Envelope& envelope) {
  if (const auto id = ask_host(connection, envelope, MessageType::ListWorkersResult, {})) emit(ListHosts{*id});
}

void Core::hosts(QueryId id, Result<std::vector<Worker>> workers) {
  if (auto node = steerings_.extract(id); !node.empty()) return steer_own(std::move(node.mapped()), workers);
  const auto asked = take_asked(id);
  if (!asked) return;
  if (!workers) return notify_worker(*asked, Failure{workers.error()});
  ConnectionState* connection = find(asked->connection);
  if (connection == nullptr || connection->phase != Phase::Active) return;
  JsonWriter payload;
  payload.field("replyTo", asked->request_id).field("success", true).begin_array("workers");
  bool cut = false;
  for (const Worker& worker : *workers) {
    cut = payload.size() > protocol::kMaxResponseBytes;
    if (cut) break;
    payload.begin_element().field("name", worker.name).field("cli", worker.cli).optional("task", worker.task);
    payload.optional("team", worker.team).optional("spawnerName", worker.spawner).field("spawnedAt", worker.started);
    payload.field("pid", worker.pid).optional("model", worker.model).optional("cwd", worker.directory).end();
  }
  payload.end();
  if (cut) payload.field("more", true);
  send_new(*connection, asked->answer, payload.take());
}

void Core::on_set_model(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto name = protocol::parse_name(envelope.payload);
  refuse_worker(connection, envelope, MessageType::SetModelResult, name ? *name : std::string{},
                {NackCode::Unsupported, "an agent's model is not changed from here; say it in its own terminal"});
}

std::optional<QueryId> Core::ask_host(ConnectionState& connection, const protocol::Envelope& envelope,
                                      MessageType answer, std::string_view name) {
  if (connection.open_queries >= limits_.max_open_queries) {
    refuse_worker(
        connection, envelope, answer, name,
        {NackCode::Busy, format("{} questions are open already; wait for an answer", connection.open_queries)});
    return std::nullopt;
  }
  const QueryId id = add_question(connection, envelope.id, answer);
  asked_[id].name = name;
  return id;
}

void Core::refuse_worker(ConnectionState& connection, const protocol::Envelope& envelope, MessageType answer,
                         std::string_view name, const Rejection& objection) {
  JsonWriter payload;
  payload.field("replyTo", envelope.id).field("success", false).field("name", name);
  payload.field("code", name_of(objection.refusal)).field("error", objection.sentence);
  if (answer == MessageType::ListWorkersResult) payload.begin_array("workers").end();
  send_new(connection, answer, payload.take());
}

void Core::notify_worker(const PendingQuery& asked, const Result<void>& outcome) {
  ConnectionState* connection = find(asked.connection);
  if (connection == nullptr || connection->phase != Phase::Active) return;
  JsonWriter payload;
  payload.field("replyTo", asked.request_id).field("success", outcome.has_value()).field("name", asked.name);
  if (!outcome) payload.field("error", outcome.error().message());
  if (asked.answer == MessageType::ListWorkersResult) payload.begin_array("workers").end();
  send_new(*connection, asked.answer, payload.take());
}

}  // namespace relay::broker
