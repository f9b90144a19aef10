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

constexpr Millis kAskTimeout{5'000};
constexpr std::int64_t kDefaultMessages = 10;
constexpr std::size_t kMaxMessages = 50;
constexpr std::string_view kNothing = "no message waits";
constexpr std::size_t kMaxRemembered = 512;  // letters that can be answered without asking the daemon

Result<void> check_recipient(std::string_view to) {
  if (to == protocol::kEveryone) return {};
  if (to == "#") return fail("give the channel's name too, for example #general");
  const auto fine = to.starts_with('#') ? protocol::check_channel_name(to) : protocol::check_agent_name(to);
  if (fine) return {};
  return fail(
      format("nobody can be written to as \"{}\": {}; relay_agents lists who is here", to, fine.error().message()));
}

/// The few fields of an agent that a model can use.
json::object agent_shown(const json::object& agent) {
  json::object shown;
  for (const auto* field : {"name", "cli", "model", "task", "team", "cwd", "state", "reason"})
    if (const auto text = string_member(agent, field); text && !text->empty())
      shown[field] = text::sanitize_line(*text);
  shown["here"] = !bool_member(agent, "idle").value_or(false);
  if (const auto waiting = integer_member(agent, "pending").value_or(0); waiting > 0) shown["waiting"] = waiting;
  return shown;
}

json::object agents_shown(const json::object& answer) {
  json::array all;
  const auto* agents = array_member(answer, "agents");
  for (const auto& value : agents != nullptr ? *agents : json::array{})
    if (const auto* agent = value.if_object(); agent != nullptr && all.size() < kMaxShownAgents)
      all.emplace_back(agent_shown(*agent));
  json::object shown;
  shown["more"] = agents != nullptr && agents->size() > all.size();
  shown["agents"] = std::move(all);
  return shown;
}

ToolResult show_agents(json::object shown) {
  std::string text;
  for (const auto& value : shown["agents"].get_array()) {
    const auto& agent = value.get_object();
    const auto line = [&](std::string_view field) {
      return text::sanitize_line(string_member(agent, field).value_or(""));
    };
    const auto cli = line("cli"), state = line("state");
    text += format("{}{}{}{}{}", text.empty() ? "" : "\n", line("name"), cli.empty() ? "" : " (" + cli + ")",
                   state.empty() ? "" : ": " + state, bool_member(agent, "here").value_or(true) ? "" : ", away");
  }
  if (text.empty()) text = "nobody is here now";
  return {.text = std::move(text), .structured = std::move(shown)};
}

/// The topics of an answer: others chose their names, and a model reads them.
json::array topics_shown(const json::object& answer) {
  json::array all;
  const auto* topics = array_member(answer, "topics");
  for (const auto& value : topics != nullptr ? *topics : json::array{}) {
    const auto* topic = value.if_object();
    if (topic == nullptr) continue;
    json::array subscribers;
    const auto* names = array_member(*topic, "subscribers");
    for (const auto& name : names != nullptr ? *names : json::array{})
      if (name.is_string()) subscribers.emplace_back(text::sanitize_line(name.get_string()));
    json::object shown;
    shown["name"] = text::sanitize_line(string_member(*topic, "name").value_or(""));
    shown["subscribers"] = std::move(subscribers);
    all.emplace_back(std::move(shown));
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

std::string agents_question(bool all) { return all ? R"({"includeIdle":true})" : R"({"includeIdle":false})"; }

}  // namespace

RelayTools::RelayTools(net::EventLoop& loop, RelayClient& post, Directory& shared, RelayToolsOptions options)
    : loop_{loop}, post_{post}, shared_{shared}, options_{std::move(options)} {}

RelayTools::~RelayTools() = default;

void RelayTools::call(RequestId ticket, std::string_view name, const json::object& given, bool wants_progress) {
  open_.insert(ticket);
  const auto* tool = find_tool(name);
  if (tool == nullptr) return finish(ticket, failed(format("there is no tool {}", name)));
  const auto arguments = Arguments::check(*tool, given);
  if (!arguments) return finish(ticket, failed(arguments.error().message()));
  if (name == "relay_whoami") return whoami(ticket);
  if (name == "relay_agents") return agents(ticket, *arguments);
  if (name == "relay_send") return send(ticket, *arguments);
  if (name == "relay_inbox") return inbox(ticket, *arguments);
  if (name == "relay_wait") return wait(ticket, *arguments, wants_progress);
  if (name == "relay_reply") return reply(ticket, *arguments);
  if (name == "relay_ack") return acknowledge(ticket, *arguments);
  if (name == "relay_topics") return topics(ticket, *arguments);
  if (name == "relay_log_event") return log_event(ticket, *arguments);
  if (name == "relay_reserve") return reserve(ticket, *arguments);
  if (name == "relay_snapshot")
    return finish(ticket,
                  failed("UNSUPPORTED: handoff snapshots are not made yet; write decisions and open points down "
                         "with relay_log_event"));
  if (options_.spawning == Spawning::Forbidden)
    return finish(ticket,
                  failed("starting and ending agents is not allowed here; your user can allow it by running the "
                         "server as: agent-relay mcp --allow-spawn, with [spawn] by_agents in config.toml"));
  if (name == "relay_spawn") return spawn(ticket, *arguments);
  release(ticket, *arguments);
}

void RelayTools::finish(RequestId ticket, ToolResult result, OnWritten written) {
  if (open_.erase(ticket) == 0) return;
  waiting_.erase(ticket);
  retries_.erase(ticket);
  server_->finish(ticket, std::move(result), std::move(written));
}

void RelayTools::cancel(RequestId ticket) {
  open_.erase(ticket);
  waiting_.erase(ticket);
  retries_.erase(ticket);
}

void RelayTools::read(RequestId ticket, std::string_view uri) {
  open_.insert(ticket);
  const auto answer = [this, ticket, alive = lifetime_.watch()](Result<json::object> content) {
    if (alive && open_.erase(ticket) > 0) server_->finish_reading(ticket, std::move(content));
  };
  if (uri == kAgentsUri)
    return post_.ask(protocol::MessageType::ListAgents, agents_question(true), kAskTimeout,
                     [answer](Result<json::object> reply) {
                       answer(reply ? Result<json::object>{agents_shown(*reply)} : std::move(reply));
                     });
  post_.inbox({.take = false, .limit = kMaxMessages}, [answer](Result<InboxPage> mail) {
    answer(mail ? Result<json::object>{messages_json(*mail)} : Result<json::object>{Failure{mail.error()}});
  });
}

void RelayTools::whoami(RequestId ticket) {
  post_.inbox(
      {.take = false, .limit = kMaxMessages}, [this, ticket, alive = lifetime_.watch()](Result<InboxPage> mail) {
        if (!alive) return;
        const auto standing = post_.standing();
        if (mail) leave_out_taken(*mail);
        const auto unread = mail ? mail->letters.size() : 0;
        json::object shown;
        shown["name"] = standing.name;
        shown["session"] = standing.session;
        shown["project"] = options_.project_root;
        shown["reachable"] = mail.has_value();
        shown["unread"] = unread;
        shown["unreadMore"] = mail && mail->more;
        if (!mail) shown["trouble"] = mail.error().message();
        if (standing.unsent > 0) shown["unsent"] = standing.unsent;
        auto text = format("You are {} in {}. ", standing.name, options_.project_root);
        if (!mail)
          text += mail.error().message();
        else
          text += unread == 0 ? "No message waits."
                              : format("{}{} wait; read them with relay_inbox.", unread, mail->more ? " or more" : "");
        if (!mail && standing.unsent > 0)
          text += format(" {} of your messages wait until the daemon is back.", standing.unsent);
        finish(ticket, {.text = std::move(text), .structured = std::move(shown)});
      });
}

void RelayTools::agents(RequestId ticket, const Arguments& arguments) {
  post_.ask(protocol::MessageType::ListAgents, agents_question(arguments.flag("all")), kAskTimeout,
            [this, ticket, alive = lifetime_.watch()](Result<json::object> answer) {
              if (!alive) return;
              finish(ticket, answer ? show_agents(agents_shown(*answer)) : failed(answer.error().message()));
            });
}

void RelayTools::send(RequestId ticket, const Arguments& arguments) {
  protocol::OutgoingSend message{.to = arguments.text("to"),
                                 .body = arguments.text("body"),
                                 .topic = arguments.text("topic"),
                                 .thread = arguments.text("thread")};
  if (const auto fine = check_recipient(message.to); !fine) return finish(ticket, failed(fine.error().message()));
  const auto mode = protocol::parse_delivery_mode(arguments.text("mode"));
  message.meta.delivery = protocol::DeliveryOptions{.mode = mode.value_or(protocol::DeliveryMode::OnIdle),
                                                    .idempotency_key = arguments.text("idempotency_key")};
  if (const auto ttl = arguments.number("ttl")) message.meta.ttl_ms = Millis{std::chrono::seconds{*ttl}}.count();
  send_message(ticket, std::move(message));
}

void RelayTools::send_message(RequestId ticket, protocol::OutgoingSend message) {
  if (message.body.empty()) return finish(ticket, failed("the body is empty; say something"));
  const auto to = message.to;
  post_.send(std::move(message), [this, ticket, to, alive = lifetime_.watch()](Result<SendResult> sent) {
    if (!alive) return;
    if (!sent) return finish(ticket, failed(sent.error().message()));
    json::object shown;
    shown["to"] = to;
    shown["status"] = sent->spooled ? "kept" : "stored";
    if (!sent->id.empty()) shown["id"] = sent->id;
    if (sent->recipients) shown["recipients"] = *sent->recipients;
    if (sent->spooled) shown["note"] = "the daemon is away; it is sent when the daemon is back: agent-relay up";
    const auto whom = to == protocol::kEveryone ? std::string{"everyone"} : to;
    auto text =
        sent->spooled
            ? format("kept for {}: the daemon is away; it is sent when the daemon is back (agent-relay up)", whom)
            : format("sent to {}{}", whom, sent->id.empty() ? "" : " [" + sent->id + "]");
    if (sent->recipients == 0U) text += "; it is stored, but nobody was there to hear it";
    finish(ticket, {.text = std::move(text), .structured = std::move(shown)});
  });
}

void RelayTools::reply(RequestId ticket, const Arguments& arguments) {
  const auto id = arguments.text("message");
  protocol::OutgoingSend draft{.body = arguments.text("body")};
  draft.meta.delivery = protocol::DeliveryOptions{.idempotency_key = arguments.text("idempotency_key")};
  const auto answer_to = [this, ticket](protocol::OutgoingSend answer, const InboxMessage& letter) {
    answer.to = letter.to.starts_with('#') ? letter.to : letter.from;
    answer.thread = letter.thread.empty() ? letter.id : letter.thread;
    answer.meta.reply_to = letter.id;
    send_message(ticket, std::move(answer));
  };
  const auto known = std::ranges::find(seen_, id, &InboxMessage::id);
  if (known != seen_.end()) return answer_to(std::move(draft), *known);
  json::object question;
  question["id"] = id;
  question["limit"] = 2;
  post_.ask(protocol::MessageType::MessagesQuery, json::serialize(question), kAskTimeout,
            [this, ticket, id, draft = std::move(draft), answer_to,
             alive = lifetime_.watch()](Result<json::object> answer) mutable {
              if (!alive) return;
              if (!answer) return finish(ticket, failed(answer.error().message()));
              const auto* found = array_member(*answer, "messages");
              const auto* row = found != nullptr && found->size() == 1 ? found->front().if_object() : nullptr;
              if (row == nullptr)
                return finish(ticket,
                              failed(format("there is no message {}; take the id as relay_inbox shows it", id)));
              InboxMessage letter;
              letter.id = string_member(*row, "id").value_or(id);
              letter.from = string_member(*row, "from").value_or("");
              letter.to = string_member(*row, "to").value_or("");
              letter.thread = string_member(*row, "thread").value_or("");
              answer_to(std::move(draft), letter);
            });
}

void RelayTools::topics(RequestId ticket, const Arguments& arguments) {
  const auto action = arguments.text("action").empty() ? std::string{"list"} : arguments.text("action");
  const auto topic = arguments.text("topic");
  json::object question;
  question["action"] = action;
  if (!topic.empty()) question["topic"] = topic;
  if (action != "list") question["agent"] = post_.standing().name;
  post_.ask(protocol::MessageType::Topics, json::serialize(question), kAskTimeout,
            [this, ticket, action, topic, alive = lifetime_.watch()](Result<json::object> answer) {
              if (!alive) return;
              if (!answer) return finish(ticket, failed(answer.error().message()));
              if (!bool_member(*answer, "success").value_or(false))
                return finish(ticket, failed(string_member(*answer, "error").value_or("nothing was changed")));
              json::object shown;
              auto topics = topics_shown(*answer);
              auto text = action == "list" ? "topics with subscribers:" + lines_of(topics)
                                           : format("{}d {} {}", action, action == "subscribe" ? "to" : "from", topic);
              shown["topics"] = std::move(topics);
              finish(ticket, {.text = std::move(text), .structured = std::move(shown)});
            });
}

void RelayTools::log_event(RequestId ticket, const Arguments& arguments) {
  const LoggedEvent event{arguments.text("kind"), arguments.text("text"), arguments.list("paths")};
  if (event.text.empty()) return finish(ticket, failed("the text is empty; say what happened and why"));
  const auto where = options_.log(event);
  if (!where) return finish(ticket, failed(where.error().message()));
  json::object shown;
  shown["kind"] = event.kind;
  shown["session"] = *where;
  finish(ticket, {.text = "written down", .structured = std::move(shown)});
}

void RelayTools::spawn(RequestId ticket, const Arguments& arguments) {
  constexpr Millis kStartTimeout{660'000};  // a person may be asked about it, for ten minutes
  if (const auto fine = protocol::check_agent_name(arguments.text("name")); !fine)
    return finish(ticket, failed("nobody can have that name: " + fine.error().message()));
  json::object order;
  for (const auto* field : {"name", "cli", "task", "cwd", "model"})
    if (const auto text = arguments.text(field); !text.empty()) order[field] = text;
  order["spawnerName"] = post_.standing().name;
  post_.ask(protocol::MessageType::Spawn, json::serialize(order), kStartTimeout,
            [this, ticket, alive = lifetime_.watch()](Result<json::object> answer) {
              if (!alive) return;
              if (!answer) return finish(ticket, failed(answer.error().message()));
              if (!bool_member(*answer, "success").value_or(false))
                return finish(ticket, failed(string_member(*answer, "error").value_or("it was not started")));
              json::object shown;
              shown["name"] = string_member(*answer, "name").value_or("");
              shown["hostPid"] = integer_member(*answer, "pid").value_or(0);
              if (const auto task = string_member(*answer, "taskId")) shown["taskId"] = *task;
              auto text = format("{} runs", string_member(*answer, "name").value_or("it"));
              finish(ticket, {.text = std::move(text), .structured = std::move(shown)});
            });
}

void RelayTools::release(RequestId ticket, const Arguments& arguments) {
  constexpr Millis kEndTimeout{20'000};
  const auto name = arguments.text("name");
  json::object order;
  order["name"] = name;
  if (const auto reason = arguments.text("reason"); !reason.empty()) order["reason"] = reason;
  post_.ask(protocol::MessageType::Release, json::serialize(order), kEndTimeout,
            [this, ticket, name, alive = lifetime_.watch()](Result<json::object> answer) {
              if (!alive) return;
              if (!answer) return finish(ticket, failed(answer.error().message()));
              if (!bool_member(*answer, "success").value_or(false))
                return finish(ticket, failed(string_member(*answer, "error").value_or("it was not ended")));
              json::object shown;
              shown["name"] = name;
              shown["released"] = true;
              finish(ticket, {.text = name + " has ended", .structured = std::move(shown)});
            });
}

void RelayTools::remember(const InboxMessage& letter) {
  seen_.push_back(letter);
  seen_.back().body.clear();
  seen_.back().files.clear();
  if (seen_.size() > kMaxRemembered) seen_.pop_front();
}

void RelayTools::leave_out_taken(InboxPage& mail) const {
  std::erase_if(mail.letters, [&](const InboxMessage& letter) { return taking_.contains(letter.id); });
}

void RelayTools::return_messages(RequestId ticket, const InboxPage& mail, std::string_view nothing) {
  std::vector<std::string> ids;
  for (const auto& letter : mail.letters) {
    remember(letter);
    taking_.insert(letter.id);
    ids.push_back(letter.id);
  }
  OnWritten written;
  if (!ids.empty())
    written = [this, ids = std::move(ids), alive = lifetime_.watch()] {
      if (!alive) return;
      take(ids, [this, ids](const Result<std::vector<InboxMessage>>&) {
        // What could not be taken is shown again: twice is better than never.
        for (const auto& id : ids) taking_.erase(id);
        recheck_all();
        if (options_.on_taken) options_.on_taken();
      });
    };
  finish(ticket, render_messages(mail, nothing), std::move(written));
}

void RelayTools::take(std::vector<std::string> ids, OnTaken on_taken, std::vector<InboxMessage> taken) {
  InboxQuery wish{.take = true, .limit = ids.size(), .ids = ids};
  post_.inbox(std::move(wish), [this, ids = std::move(ids), on_taken = std::move(on_taken), taken = std::move(taken),
                                alive = lifetime_.watch()](Result<InboxPage> mail) mutable {
    if (!alive) return;
    if (!mail) return on_taken(Failure{mail.error()});
    for (auto& letter : mail->letters) {
      std::erase(ids, letter.id);
      letter.body.clear();
      taken.push_back(std::move(letter));
    }
    if (mail->more && !mail->letters.empty() && !ids.empty())
      return take(std::move(ids), std::move(on_taken), std::move(taken));
    on_taken(std::move(taken));
  });
}

void RelayTools::inbox(RequestId ticket, const Arguments& arguments) {
  const auto limit = static_cast<std::size_t>(arguments.number("limit", kDefaultMessages));
  if (!arguments.flag("peek")) return show_inbox(ticket, limit, Tries::First);
  post_.inbox({.take = false, .limit = limit}, [this, ticket, alive = lifetime_.watch()](Result<InboxPage> mail) {
    if (!alive) return;
    if (!mail) return finish(ticket, failed(mail.error().message()));
    for (const auto& letter : mail->letters) remember(letter);
    finish(ticket, render_messages(*mail, kNothing));
  });
}

void RelayTools::show_inbox(RequestId ticket, std::size_t limit, Tries tries) {
  post_.inbox({.take = false, .limit = limit + taking_.size()},
              [this, ticket, limit, tries, alive = lifetime_.watch()](Result<InboxPage> mail) {
                if (!alive || !is_open(ticket)) return;
                if (!mail) return finish(ticket, failed(mail.error().message()));
                leave_out_taken(*mail);
                if (mail->letters.size() > limit) {
                  mail->letters.resize(limit);
                  mail->more = true;
                }
                // Another call showed all of these meanwhile; those behind them come forward now.
                if (mail->letters.empty() && mail->more && tries == Tries::First)
                  return show_inbox(ticket, limit, Tries::Last);
                return_messages(ticket, *mail, kNothing);
              });
}

void RelayTools::acknowledge(RequestId ticket, const Arguments& arguments) {
  auto ids = arguments.list("messages");
  const auto asked = ids.size();
  take(std::move(ids), [this, ticket, asked](const Result<std::vector<InboxMessage>>& taken) {
    if (!taken) return finish(ticket, failed(taken.error().message()));
    json::array acknowledged;
    for (const auto& letter : *taken) {
      remember(letter);
      acknowledged.emplace_back(letter.id);
    }
    const auto count = acknowledged.size();
    json::object shown;
    shown["acknowledged"] = std::move(acknowledged);
    finish(ticket, {.text = count == asked ? std::string{"acknowledged"}
                                           : format("acknowledged {} of {}; the others wait no longer", count, asked),
                    .structured = std::move(shown)});
  });
}

}  // namespace relay::mcp
