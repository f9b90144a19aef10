#include "mcp/relay_tools.h"

#include <algorithm>

#include "base/format.h"
#include "mcp/message_view.h"
#include "protocol/limits.h"
#include "protocol/names.h"
#include "text/sanitize.h"
#include "text/utf8.h"

namespace relay::mcp {
namespace {

constexpr Millis kRequestTimeout{5'000};
constexpr std::int64_t kDefaultMessages = 10;
constexpr std::size_t kMaxMessages = 50;
constexpr std::string_view kNoMessages = "no pending messages";
constexpr std::size_t kMaxRemembered = 512;  // messages that relay_reply finds without the daemon

Result<void> check_recipient(std::string_view to) {
  if (to == protocol::kEveryone) return {};
  if (to == "#") return fail("give the channel's name too, for example #general");
  const auto fine = to.starts_with('#') ? protocol::check_channel_name(to) : protocol::check_agent_name(to);
  if (fine) return {};
  return fail(format("\"{}\" cannot be a recipient: {}; relay_agents lists the agents", to, fine.error().message()));
}

/// The few fields of an agent that a model can use.
json::object agent_json(const json::object& agent) {
  json::object structured;
  for (const auto* field : {"name", "cli", "model", "task", "team", "cwd", "state", "reason"})
    if (const auto text = string_member(agent, field); text && !text->empty())
      structured[field] = text::sanitize_line(*text);
  structured["connected"] = !bool_member(agent, "idle").value_or(false);
  if (const auto pending = integer_member(agent, "pending").value_or(0); pending > 0) structured["pending"] = pending;
  return structured;
}

json::object agents_json(const json::object& answer) {
  json::array all;
  const auto* agents = array_member(answer, "agents");
  for (const auto& value : agents != nullptr ? *agents : json::array{})
    if (const auto* agent = value.if_object(); agent != nullptr && all.size() < kMaxShownAgents)
      all.emplace_back(agent_json(*agent));
  json::object structured;
  structured["more"] = agents != nullptr && agents->size() > all.size();
  structured["agents"] = std::move(all);
  return structured;
}

ToolResult render_agents(json::object structured) {
  std::string text;
  for (const auto& value : structured["agents"].get_array()) {
    const auto& agent = value.get_object();
    const auto line = [&](std::string_view field) {
      return text::sanitize_line(string_member(agent, field).value_or(""));
    };
    const auto cli = line("cli"), state = line("state");
    text +=
        format("{}{}{}{}{}", text.empty() ? "" : "\n", line("name"), cli.empty() ? "" : " (" + cli + ")",
               state.empty() ? "" : ": " + state, bool_member(agent, "connected").value_or(true) ? "" : ", offline");
  }
  if (text.empty()) text = "no agents are connected";
  return {.text = std::move(text), .structured = std::move(structured)};
}

/// Sanitizes the names: they are untrusted text that a model reads.
json::array topics_json(const json::object& answer) {
  json::array all;
  const auto* topics = array_member(answer, "topics");
  for (const auto& value : topics != nullptr ? *topics : json::array{}) {
    const auto* topic = value.if_object();
    if (topic == nullptr) continue;
    json::array subscribers;
    const auto* names = array_member(*topic, "subscribers");
    for (const auto& name : names != nullptr ? *names : json::array{})
      if (name.is_string()) subscribers.emplace_back(text::sanitize_line(name.get_string()));
    json::object structured;
    structured["name"] = text::sanitize_line(string_member(*topic, "name").value_or(""));
    structured["subscribers"] = std::move(subscribers);
    all.emplace_back(std::move(structured));
  }
  return all;
}

std::string lines_of(const json::array& topics) {
  std::string lines;
  for (const auto& topic : topics) {
    lines += format("\n{}: ", std::string_view{topic.at("name").get_string()});
    const auto& subscribers = topic.at("subscribers").get_array();
    for (std::size_t i = 0; i < subscribers.size(); ++i)
      lines += format("{}{}", i == 0 ? "" : ", ", std::string_view{subscribers[i].get_string()});
  }
  return lines;
}

std::string agents_query(bool all) { return all ? R"({"includeIdle":true})" : R"({"includeIdle":false})"; }

}  // namespace

RelayTools::RelayTools(net::EventLoop& loop, RelayClient& post, Directory& shared, RelayToolsOptions options)
    : loop_{loop}, client_{post}, shared_{shared}, options_{std::move(options)} {}

RelayTools::~RelayTools() = default;

void RelayTools::call(RequestId request_id, std::string_view name, const json::object& given, bool wants_progress) {
  open_.insert(request_id);
  const auto* tool = find_tool(name);
  if (tool == nullptr) return finish(request_id, failed(format("unknown tool {}", name)));
  const auto arguments = Arguments::check(*tool, given);
  if (!arguments) return finish(request_id, failed(arguments.error().message()));
  if (name == "relay_whoami") return whoami(request_id);
  if (name == "relay_agents") return agents(request_id, *arguments);
  if (name == "relay_send") return send(request_id, *arguments);
  if (name == "relay_inbox") return inbox(request_id, *arguments);
  if (name == "relay_wait") return wait(request_id, *arguments, wants_progress);
  if (name == "relay_reply") return reply(request_id, *arguments);
  if (name == "relay_ack") return acknowledge(request_id, *arguments);
  if (name == "relay_topics") return topics(request_id, *arguments);
  if (name == "relay_log_event") return log_event(request_id, *arguments);
  if (name == "relay_reserve") return reserve(request_id, *arguments);
  if (name == "relay_snapshot")
    return finish(request_id,
                  failed("UNSUPPORTED: handoff snapshots are not available yet; record decisions and open points with "
                         "relay_log_event"));
  if (options_.spawning == Spawning::Forbidden)
    return finish(request_id,
                  failed("starting and ending agents is not allowed here; your user can allow it by running the "
                         "server as: agent-relay mcp --allow-spawn, with [spawn] by_agents in config.toml"));
  if (name == "relay_spawn") return spawn(request_id, *arguments);
  release(request_id, *arguments);
}

void RelayTools::finish(RequestId request_id, ToolResult result, OnWritten written) {
  if (open_.erase(request_id) == 0) return;
  waiting_.erase(request_id);
  retries_.erase(request_id);
  server_->finish(request_id, std::move(result), std::move(written));
}

void RelayTools::cancel(RequestId request_id) {
  open_.erase(request_id);
  waiting_.erase(request_id);
  retries_.erase(request_id);
}

void RelayTools::read(RequestId request_id, std::string_view uri) {
  open_.insert(request_id);
  const auto answer = [this, request_id, alive = lifetime_.watch()](Result<json::object> content) {
    if (alive && open_.erase(request_id) > 0) server_->finish_reading(request_id, std::move(content));
  };
  if (uri == kAgentsUri)
    return client_.request(protocol::MessageType::ListAgents, agents_query(true), kRequestTimeout,
                           [answer](Result<json::object> reply) {
                             answer(reply ? Result<json::object>{agents_json(*reply)} : std::move(reply));
                           });
  client_.inbox({.take = false, .limit = kMaxMessages}, [answer](Result<InboxPage> page) {
    answer(page ? Result<json::object>{messages_json(*page)} : Result<json::object>{Failure{page.error()}});
  });
}

void RelayTools::whoami(RequestId request_id) {
  client_.inbox({.take = false, .limit = kMaxMessages}, [this, request_id,
                                                         alive = lifetime_.watch()](Result<InboxPage> page) {
    if (!alive) return;
    const auto status = client_.status();
    if (page) leave_out_taken(*page);
    const auto unread = page ? page->messages.size() : 0;
    json::object structured;
    structured["name"] = status.name;
    structured["session"] = status.session;
    structured["project"] = options_.project_root;
    structured["reachable"] = page.has_value();
    structured["unread"] = unread;
    structured["unreadMore"] = page && page->more;
    if (!page) structured["error"] = page.error().message();
    if (status.unsent > 0) structured["unsent"] = status.unsent;
    auto text = format("You are {} in {}. ", status.name, options_.project_root);
    if (!page)
      text += page.error().message();
    else
      text += unread == 0 ? "No pending messages."
                          : format("{}{} pending; read them with relay_inbox.", unread, page->more ? " or more" : "");
    if (!page && status.unsent > 0)
      text += format(" {} of your messages are spooled until the daemon is online.", status.unsent);
    finish(request_id, {.text = std::move(text), .structured = std::move(structured)});
  });
}

void RelayTools::agents(RequestId request_id, const Arguments& arguments) {
  client_.request(protocol::MessageType::ListAgents, agents_query(arguments.flag("all")), kRequestTimeout,
                  [this, request_id, alive = lifetime_.watch()](Result<json::object> answer) {
                    if (!alive) return;
                    finish(request_id, answer ? render_agents(agents_json(*answer)) : failed(answer.error().message()));
                  });
}

void RelayTools::send(RequestId request_id, const Arguments& arguments) {
  protocol::OutgoingSend message{.to = arguments.text("to"),
                                 .body = arguments.text("body"),
                                 .topic = arguments.text("topic"),
                                 .thread = arguments.text("thread")};
  if (const auto fine = check_recipient(message.to); !fine) return finish(request_id, failed(fine.error().message()));
  const auto mode = protocol::parse_delivery_mode(arguments.text("mode"));
  message.meta.delivery = protocol::DeliveryOptions{.mode = mode.value_or(protocol::DeliveryMode::OnIdle),
                                                    .idempotency_key = arguments.text("idempotency_key")};
  if (const auto ttl = arguments.number("ttl")) message.meta.ttl_ms = Millis{std::chrono::seconds{*ttl}}.count();
  send_message(request_id, std::move(message));
}

void RelayTools::send_message(RequestId request_id, protocol::OutgoingSend message) {
  if (message.body.empty()) return finish(request_id, failed("the body is empty; write a message"));
  const auto to = message.to;
  client_.send(std::move(message), [this, request_id, to, alive = lifetime_.watch()](Result<SendResult> sent) {
    if (!alive) return;
    if (!sent) return finish(request_id, failed(sent.error().message()));
    json::object structured;
    structured["to"] = to;
    structured["status"] = sent->spooled ? "spooled" : "stored";
    if (!sent->id.empty()) structured["id"] = sent->id;
    if (sent->recipients) structured["recipients"] = *sent->recipients;
    if (sent->spooled)
      structured["note"] =
          "the daemon is offline; the message is sent when it is online; start it with: agent-relay up";
    const auto whom = to == protocol::kEveryone ? std::string{"everyone"} : to;
    auto text =
        sent->spooled
            ? format("spooled for {}: the daemon is offline; the message is sent when it is online (agent-relay up)",
                     whom)
            : format("sent to {}{}", whom, sent->id.empty() ? "" : " [" + sent->id + "]");
    if (sent->recipients == 0U) text += "; it is stored, but there was no recipient";
    finish(request_id, {.text = std::move(text), .structured = std::move(structured)});
  });
}

void RelayTools::reply(RequestId request_id, const Arguments& arguments) {
  const auto id = arguments.text("message");
  protocol::OutgoingSend draft{.body = arguments.text("body")};
  draft.meta.delivery = protocol::DeliveryOptions{.idempotency_key = arguments.text("idempotency_key")};
  const auto answer_to = [this, request_id](protocol::OutgoingSend answer, const InboxMessage& message) {
    answer.to = message.to.starts_with('#') ? message.to : message.from;
    answer.thread = message.thread.empty() ? message.id : message.thread;
    answer.meta.reply_to = message.id;
    send_message(request_id, std::move(answer));
  };
  const auto seen = std::ranges::find(seen_, id, &InboxMessage::id);
  if (seen != seen_.end()) return answer_to(std::move(draft), *seen);
  json::object query;
  query["id"] = id;
  query["limit"] = 2;
  client_.request(protocol::MessageType::MessagesQuery, json::serialize(query), kRequestTimeout,
                  [this, request_id, id, draft = std::move(draft), answer_to,
                   alive = lifetime_.watch()](Result<json::object> answer) mutable {
                    if (!alive) return;
                    if (!answer) return finish(request_id, failed(answer.error().message()));
                    const auto* found = array_member(*answer, "messages");
                    const auto* row = found != nullptr && found->size() == 1 ? found->front().if_object() : nullptr;
                    if (row == nullptr)
                      return finish(request_id,
                                    failed(format("there is no message {}; use the id from relay_inbox", id)));
                    InboxMessage message;
                    message.id = string_member(*row, "id").value_or(id);
                    message.from = string_member(*row, "from").value_or("");
                    message.to = string_member(*row, "to").value_or("");
                    message.thread = string_member(*row, "thread").value_or("");
                    answer_to(std::move(draft), message);
                  });
}

void RelayTools::topics(RequestId request_id, const Arguments& arguments) {
  const auto action = arguments.text("action").empty() ? std::string{"list"} : arguments.text("action");
  const auto topic = arguments.text("topic");
  json::object query;
  query["action"] = action;
  if (!topic.empty()) query["topic"] = topic;
  if (action != "list") query["agent"] = client_.status().name;
  client_.request(
      protocol::MessageType::Topics, json::serialize(query), kRequestTimeout,
      [this, request_id, action, topic, alive = lifetime_.watch()](Result<json::object> answer) {
        if (!alive) return;
        if (!answer) return finish(request_id, failed(answer.error().message()));
        if (!bool_member(*answer, "success").value_or(false))
          return finish(request_id, failed(string_member(*answer, "error").value_or("nothing was changed")));
        json::object structured;
        auto topics = topics_json(*answer);
        auto text = action == "list" ? "topics with subscribers:" + lines_of(topics)
                                     : format("{}d {} {}", action, action == "subscribe" ? "to" : "from", topic);
        structured["topics"] = std::move(topics);
        finish(request_id, {.text = std::move(text), .structured = std::move(structured)});
      });
}

void RelayTools::log_event(RequestId request_id, const Arguments& arguments) {
  const LoggedEvent event{arguments.text("kind"), arguments.text("text"), arguments.list("paths")};
  if (event.text.empty()) return finish(request_id, failed("the text is empty; write what happened and why"));
  const auto where = options_.log(event);
  if (!where) return finish(request_id, failed(where.error().message()));
  json::object structured;
  structured["kind"] = event.kind;
  structured["session"] = *where;
  finish(request_id, {.text = "recorded", .structured = std::move(structured)});
}

void RelayTools::spawn(RequestId request_id, const Arguments& arguments) {
  constexpr Millis kStartTimeout{660'000};  // the user has ten minutes to answer
  if (const auto fine = protocol::check_agent_name(arguments.text("name")); !fine)
    return finish(request_id, failed("this cannot be the name of an agent: " + fine.error().message()));
  json::object command;
  for (const auto* field : {"name", "cli", "task", "cwd", "model"})
    if (const auto text = arguments.text(field); !text.empty()) command[field] = text;
  command["spawnerName"] = client_.status().name;
  client_.request(protocol::MessageType::Spawn, json::serialize(command), kStartTimeout,
                  [this, request_id, alive = lifetime_.watch()](Result<json::object> answer) {
                    if (!alive) return;
                    if (!answer) return finish(request_id, failed(answer.error().message()));
                    if (!bool_member(*answer, "success").value_or(false))
                      return finish(request_id, failed(string_member(*answer, "error").value_or("it was not started")));
                    json::object structured;
                    structured["name"] = string_member(*answer, "name").value_or("");
                    structured["hostPid"] = integer_member(*answer, "pid").value_or(0);
                    if (const auto task = string_member(*answer, "taskId")) structured["taskId"] = *task;
                    auto text = format("{} runs", string_member(*answer, "name").value_or("it"));
                    finish(request_id, {.text = std::move(text), .structured = std::move(structured)});
                  });
}

void RelayTools::release(RequestId request_id, const Arguments& arguments) {
  constexpr Millis kEndTimeout{20'000};
  const auto name = arguments.text("name");
  json::object command;
  command["name"] = name;
  if (const auto reason = arguments.text("reason"); !reason.empty()) command["reason"] = reason;
  client_.request(protocol::MessageType::Release, json::serialize(command), kEndTimeout,
                  [this, request_id, name, alive = lifetime_.watch()](Result<json::object> answer) {
                    if (!alive) return;
                    if (!answer) return finish(request_id, failed(answer.error().message()));
                    if (!bool_member(*answer, "success").value_or(false))
                      return finish(request_id, failed(string_member(*answer, "error").value_or("it was not ended")));
                    json::object structured;
                    structured["name"] = name;
                    structured["released"] = true;
                    finish(request_id, {.text = name + " has ended", .structured = std::move(structured)});
                  });
}

void RelayTools::remember(const InboxMessage& message) {
  seen_.push_back(message);
  seen_.back().body.clear();
  seen_.back().files.clear();
  if (seen_.size() > kMaxRemembered) seen_.pop_front();
}

void RelayTools::leave_out_taken(InboxPage& page) const {
  std::erase_if(page.messages, [&](const InboxMessage& message) { return taking_.contains(message.id); });
}

void RelayTools::return_messages(RequestId request_id, const InboxPage& page, std::string_view nothing) {
  std::vector<std::string> ids;
  for (const auto& message : page.messages) {
    remember(message);
    taking_.insert(message.id);
    ids.push_back(message.id);
  }
  OnWritten written;
  if (!ids.empty())
    written = [this, ids = std::move(ids), alive = lifetime_.watch()] {
      if (!alive) return;
      take(ids, [this, ids](const Result<std::vector<InboxMessage>>&) {
        // A message that could not be taken is returned again: a repeat is better than a loss.
        for (const auto& id : ids) taking_.erase(id);
        recheck_all();
        if (options_.on_taken) options_.on_taken();
      });
    };
  finish(request_id, render_messages(page, nothing), std::move(written));
}

void RelayTools::take(std::vector<std::string> ids, OnTaken on_taken, std::vector<InboxMessage> taken) {
  InboxQuery query{.take = true, .limit = ids.size(), .ids = ids};
  client_.inbox(std::move(query), [this, ids = std::move(ids), on_taken = std::move(on_taken), taken = std::move(taken),
                                   alive = lifetime_.watch()](Result<InboxPage> page) mutable {
    if (!alive) return;
    if (!page) return on_taken(Failure{page.error()});
    for (auto& message : page->messages) {
      std::erase(ids, message.id);
      message.body.clear();
      taken.push_back(std::move(message));
    }
    if (page->more && !page->messages.empty() && !ids.empty())
      return take(std::move(ids), std::move(on_taken), std::move(taken));
    on_taken(std::move(taken));
  });
}

void RelayTools::inbox(RequestId request_id, const Arguments& arguments) {
  const auto limit = static_cast<std::size_t>(arguments.number("limit", kDefaultMessages));
  if (!arguments.flag("peek")) return show_inbox(request_id, limit, Tries::First);
  client_.inbox({.take = false, .limit = limit}, [this, request_id, alive = lifetime_.watch()](Result<InboxPage> page) {
    if (!alive) return;
    if (!page) return finish(request_id, failed(page.error().message()));
    for (const auto& message : page->messages) remember(message);
    finish(request_id, render_messages(*page, kNoMessages));
  });
}

void RelayTools::show_inbox(RequestId request_id, std::size_t limit, Tries tries) {
  client_.inbox({.take = false, .limit = limit + taking_.size()},
                [this, request_id, limit, tries, alive = lifetime_.watch()](Result<InboxPage> page) {
                  if (!alive || !is_open(request_id)) return;
                  if (!page) return finish(request_id, failed(page.error().message()));
                  leave_out_taken(*page);
                  if (page->messages.size() > limit) {
                    page->messages.resize(limit);
                    page->more = true;
                  }
                  // Another call returned all of these meanwhile; later messages are visible now.
                  if (page->messages.empty() && page->more && tries == Tries::First)
                    return show_inbox(request_id, limit, Tries::Last);
                  return_messages(request_id, *page, kNoMessages);
                });
}

void RelayTools::acknowledge(RequestId request_id, const Arguments& arguments) {
  auto ids = arguments.list("messages");
  const auto requested = ids.size();
  take(std::move(ids), [this, request_id, requested](const Result<std::vector<InboxMessage>>& taken) {
    if (!taken) return finish(request_id, failed(taken.error().message()));
    json::array acknowledged;
    for (const auto& message : *taken) {
      remember(message);
      acknowledged.emplace_back(message.id);
    }
    const auto count = acknowledged.size();
    json::object structured;
    structured["acknowledged"] = std::move(acknowledged);
    finish(request_id, {.text = count == requested ? std::string{"acknowledged"}
                                                   : format("acknowledged {} of {}; the others are no longer pending",
                                                            count, requested),
                        .structured = std::move(structured)});
  });
}

}  // namespace relay::mcp
