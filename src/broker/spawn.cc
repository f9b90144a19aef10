// An allowed SPAWN: the host is started, the task becomes a message.
#include <algorithm>

#include "base/format.h"
#include "broker/workers.h"
#include "records/short_id.h"
#include "text/json_writer.h"
#include "text/utf8.h"

namespace relay::broker {

using protocol::MessageType;
using protocol::NackCode;
using text::JsonWriter;

namespace {

constexpr std::size_t kMaxSpawned = 1'024;
constexpr Millis kHelloTimeout{60'000};  // from the start of a host to its HELLO

constexpr std::size_t kMaxTaskLength = 200;  // characters of a task in listings

std::string as_message(std::string_view task) {
  if (task.empty()) return {};
  JsonWriter payload;
  payload.field("kind", "message").field("body", task);
  return payload.take();
}

}  // namespace

std::string task_summary(std::string_view task) {
  std::size_t end = 0;
  std::string summary;
  for (std::size_t characters = 0; characters < kMaxTaskLength && end < task.size(); ++characters) {
    const std::size_t begin = end;
    text::next_code_point(task, end);
    const auto character = task.substr(begin, end - begin);
    summary += text::has_control_characters(character) ? " " : character;
  }
  return summary;
}

void Workers::start(ConnectionState& connection, const SpawnFrame& frame, protocol::SpawnRequest wanted,
                    SpawnPlace place, std::optional<ClientRequest> approver) {
  // A session spawns under its own name; the command line may name another spawner.
  const bool is_named = connection.query_only && !wanted.spawner.empty();
  PendingSpawn starting{.connection = connection.id,
                        .name = wanted.name,
                        .from = is_named ? AgentName{wanted.spawner} : *connection.agent,
                        .session = connection.session,
                        .as_user = authority_.gives_task_as_user(connection, wanted, frame.claim_token),
                        .payload = as_message(wanted.task),
                        .cli = wanted.argv.empty() ? std::string{} : wanted.argv.front(),
                        .task = wanted.task,
                        .role = wanted.role,
                        .approver = approver};
  if (const auto rejected = check_spawn(connection, wanted, starting, frame.claim_token)) {
    reject_approver(approver, wanted.name, *rejected);
    return refuse_spawn(connection, frame.id, wanted.name, *rejected);
  }
  auto request = open_request(connection, frame.id, MessageType::SpawnResult, wanted.name);
  if (!request)
    return reject_approver(approver, wanted.name,
                           {NackCode::Busy, "the agent that requested it has too many open requests"});
  if (!starting.payload.empty() && is_named) one_shot_.add(wanted.spawner);
  HostSpec spec{.name = std::move(wanted.name),
                .argv = std::move(wanted.argv),
                .directory = std::move(wanted.directory),
                .inside_project = place == SpawnPlace::InsideProject,
                .spawner = starting.from.value(),
                .team = std::move(wanted.team),
                .model = std::move(wanted.model),
                .task = task_summary(wanted.task),
                .environment = std::move(wanted.environment)};
  const std::uint64_t start = ++last_start_;
  starting_.emplace(start, std::move(starting));
  hosts_.start(std::move(spec), [this, start, request = *std::move(request)](Result<std::int32_t> pid) {
    on_started(start, request, std::move(pid));
  });
}

std::optional<Rejection> Workers::check_spawn(const ConnectionState& connection, const protocol::SpawnRequest& wanted,
                                              const PendingSpawn& starting, std::string_view claim_token) {
  if (!wanted.shadow_of.empty())
    return Rejection{NackCode::Unsupported,
                     "SPAWN cannot start a shadow; start the agent, and let it send SHADOW_BIND itself"};
  if (auto reason = agents_.confusable_reason(wanted.name); !reason.empty())
    return Rejection{NackCode::BadRequest, std::move(reason)};
  const AgentState* agent = agents_.find(wanted.name);
  if (agent != nullptr && agent->connected())
    return Rejection{
        NackCode::NotOwner,
        format("'{}' is already connected; choose another name, or end it first (agent-relay release, /quit in a chat)",
               wanted.name)};
  if (is_starting(wanted.name))
    return Rejection{NackCode::NotOwner, format("'{}' is already being started; choose another name", wanted.name)};
  if (agent != nullptr && agent->removing)
    return Rejection{NackCode::Busy, format("'{}' is being removed; try again in a moment", wanted.name)};
  const auto own = std::ranges::count(starting_, *connection.id, [](const auto& one) { return one.second.connection; });
  if (starting_.size() >= context_.limits().max_starting ||
      static_cast<std::size_t>(own) >= context_.limits().max_starting_each)
    return Rejection{NackCode::Busy,
                     format("{} agents are already being started; wait for one of them", starting_.size())};
  if (agent == nullptr && !removal_.has_room_for_name(starting_.size()))
    return Rejection{NackCode::Busy, format("the workspace already has {} agents; remove one first", agents_.size())};
  if (starting.payload.empty()) return std::nullopt;
  return check_task(connection, wanted, starting, claim_token);
}

/// The task becomes a message to the new agent.
std::optional<Rejection> Workers::check_task(const ConnectionState& connection, const protocol::SpawnRequest& wanted,
                                             const PendingSpawn& starting, std::string_view claim_token) {
  const AgentState* agent = agents_.find(wanted.name);
  if (starting.from.value() == wanted.name)
    return Rejection{NackCode::BadRequest, format("'{}' cannot give itself a task; choose another name", wanted.name)};
  if (!commits_.is_healthy()) return Rejection{NackCode::Storage, "the task cannot be stored at the moment; try again"};
  constexpr std::size_t kMaxBytes = protocol::kMaxFrameBytes - protocol::kEnvelopeReserveBytes;
  if (starting.payload.size() > kMaxBytes)
    return Rejection{NackCode::TooLarge, format("a task may be at most {} bytes; this one is {}; send it as a file",
                                                kMaxBytes, starting.payload.size())};
  if (agent != nullptr && agent->mailbox.pending() >= context_.limits().max_backlog)
    return Rejection{NackCode::Busy, format("{} already has {} pending messages; choose another name", wanted.name,
                                            agent->mailbox.pending())};
  if (auto rejected = publisher_.check_stream(starting.from, AgentName{wanted.name}, starting_.size())) return rejected;
  if (connection.query_only && !wanted.spawner.empty()) return one_shot_.check(connection, wanted.spawner, claim_token);
  return std::nullopt;
}

bool Workers::is_starting(std::string_view name) const {
  return std::ranges::any_of(starting_, [&](const auto& one) { return one.second.name == name; });
}

std::string Workers::removal_obstacle(const std::string& name) const {
  return is_starting(name) ? format("{} is being started; release it once it runs, then remove it", name)
                           : std::string{};
}

void Workers::reject_approver(const std::optional<ClientRequest>& approver, std::string_view name,
                              const Rejection& reason) {
  if (approver)
    prompts_.respond(*approver,
                     Rejection{reason.code, format("approved, but {} did not start: {}", name, reason.message),
                               reason.retry_after_ms});
}

void Workers::on_started(std::uint64_t start, const ClientRequest& request, Result<std::int32_t> pid) {
  auto node = starting_.extract(start);
  PendingSpawn& started = node.mapped();
  if (!pid) {
    context_.log(WriteLog::Level::Info,
                 format("{} was not started for {}: {}", started.name, started.from.value(), pid.error().message()));
    reject_approver(started.approver, started.name, {NackCode::Refused, pid.error().message()});
    return respond(request, started.name, Failure{pid.error()});
  }
  context_.log(WriteLog::Level::Info,
               format("{} was started for {} (pid {})", started.name, started.from.value(), *pid));
  if (started.approver) prompts_.respond(*started.approver, std::nullopt);
  const auto optional = [](const std::string& text) {
    return text.empty() ? std::optional<std::string>{} : std::optional{text};
  };
  record_spawned(started.name, {.agent_name = started.name,
                                .cli = started.cli,
                                .spawned_by = started.from.value(),
                                .task = optional(started.task),
                                .role = optional(started.role)});
  ConnectionState* client = connections_.find(started.connection);
  const auto finish = [this, request, name = started.name, pid = *pid](const std::string& task_id) {
    ConnectionState* asker = connections_.find(request.connection);
    if (asker == nullptr || asker->phase != Phase::Active) return;
    JsonWriter payload;
    payload.field("replyTo", request.id).field("success", true).field("name", name).field("pid", pid);
    payload.optional("taskId", task_id);
    connections_.send_new(*asker, request.response, payload.take());
  };
  (void)requests_.finish(request);
  if (started.payload.empty()) return finish({});
  // No client repeats the task, so it is retried until it is stored. The response follows.
  const std::size_t charged = client != nullptr ? started.payload.size() : 0;
  if (client != nullptr) budget_.charge(*client, charged, context_.limits().max_retried_bytes);
  const std::string task_id = post_task(started);
  commits_.when_saved([this, finish, task_id, charged, id = started.connection] {
    budget_.release(id, charged);
    finish(task_id);
  });
}

/// The event names the session: it is recorded at once if the host has sent HELLO, else when it does.
void Workers::record_spawned(const std::string& name, events::AgentSpawned event) {
  if (const AgentState* agent = agents_.find(name); agent != nullptr && agent->connected() && agent->session)
    return event_recorder_.record(event, *agent);
  std::erase_if(spawned_, [&](const auto& one) {
    const bool too_late = context_.steady() - one.second.at > kHelloTimeout;
    if (too_late) event_recorder_.record(one.second.event, AgentName{one.first}, {});
    return too_late;
  });
  if (spawned_.size() >= kMaxSpawned) return event_recorder_.record(event, AgentName{name}, {});
  spawned_.insert_or_assign(name, Spawned{std::move(event), context_.steady()});
}

void Workers::on_session_opening(const AgentState& agent) {
  const auto spawned = spawned_.extract(agent.name().value());
  if (spawned.empty()) return;
  const bool in_time = context_.steady() - spawned.mapped().at <= kHelloTimeout;
  commits_.change(event_recorder_.row(spawned.mapped().event, agent.name(), in_time ? agent.session->id : SessionId{}));
}

std::string Workers::post_task(PendingSpawn& started) {
  AgentState& agent = one_shot_.add(started.name);  // it exists before HELLO, so that its task is stored for it
  records::Message message;
  message.from = started.from;
  message.to = started.name;
  message.kind = "message";
  message.payload = std::move(started.payload);
  message.session = started.as_user ? SessionId{std::string{records::kUserSession}} : started.session;
  return records::short_id(publisher_.post(std::move(message), {&agent}, Publisher::Copies::ForShadows));
}

}  // namespace relay::broker
