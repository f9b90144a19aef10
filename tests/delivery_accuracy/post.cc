#include "post.h"

#include <algorithm>

#include "base/format.h"
#include "base/json.h"
#include "protocol/limits.h"

namespace relay::verdicts {

using protocol::MessageType;

/// One who writes; it hears nothing but answers.
class Post::Sender final : public client::LinkListener {
 public:
  Sender(Post& post, const std::string& socket, const std::string& name)
      : post_{post},
        outbox_{client::Numbering::Epoch, {}, post.random_},
        link_{post.loop_, post.network_, post.random_, outbox_, options(socket, name), *this} {
    link_.start();
  }
  ~Sender() override { link_.stop(); }

  client::Link& link() { return link_; }

 private:
  static client::LinkOptions options(const std::string& socket, const std::string& name) {
    client::LinkOptions options;
    options.socket_path = socket;
    options.hello.agent = name;
    options.hello.capabilities.resume = true;
    options.hello.claim_token = "claim-of-" + name;
    options.timeout = client::RetryLimit::never_give_up();
    return options;
  }

  void on_ready(const client::Session&) override {}
  void on_lost(const std::string&, Millis) override {}
  void on_stopped(const Error& why) override { post_.refused_ = why.message(); }
  client::AckMode on_incoming(const client::IncomingMessage&) override { return client::AckMode::Now; }
  void on_sent(const std::string&) override { ++post_.stored_; }
  void on_refused(const std::string&, const protocol::Nack& why) override {
    post_.refused_ = relay::format("{}: {}", why.code, why.message);
  }
  void on_frame(const protocol::Envelope&) override {}

  Post& post_;
  client::Outbox outbox_;
  client::Link link_;
};

Post::Post(net::AsioLoop& loop, const std::string& socket, std::size_t senders) : loop_{loop}, network_{loop} {
  for (std::size_t i = 0; i < senders; ++i)
    senders_.push_back(std::make_unique<Sender>(*this, socket, relay::format("Sender{}", i)));
}
Post::~Post() = default;

Result<void> Post::send(Number number, const PlannedMessage& errand) {
  const json::object payload{{"kind", "message"}, {"body", body_of(number)}};
  RELAY_TRY(senders_.at(errand.sender)
                ->link()
                .send({.to = relay::format("Agent{}", errand.agent),
                       .payload = json::serialize(payload),
                       .payload_meta = errand.immediate ? R"({"delivery":{"mode":"immediate"}})" : ""}));
  ++sent_;
  return {};
}

void Post::ask(MessageType type, const json::object& question,
               std::move_only_function<void(Result<json::object>)> answer) {
  senders_.front()->link().request(type, json::serialize(question),
                                   [answer = std::move(answer)](Result<const protocol::Envelope*> frame) mutable {
                                     if (!frame) return answer(Failure{frame.error()});
                                     auto parsed = parse_json_object((*frame)->payload);
                                     if (parsed)
                                       if (const auto error = string_member(*parsed, "error"))
                                         return answer(fail(*error));
                                     answer(std::move(parsed));
                                   });
}

void Post::ask_for(std::vector<std::string> names, std::move_only_function<void(bool)> answer) {
  ask(MessageType::ListAgents, {},
      [names = std::move(names), answer = std::move(answer)](Result<json::object> response) mutable {
        const auto* agents = response ? array_member(*response, "agents") : nullptr;
        if (agents == nullptr) return answer(false);
        answer(std::ranges::all_of(names, [&](const std::string& name) {
          return std::ranges::any_of(*agents, [&](const json::value& agent) {
            return agent.is_object() && string_member(agent.get_object(), "name") == name;
          });
        }));
      });
}

void Post::read_ledger(std::move_only_function<void(Result<void>)> done) {
  std::int64_t after = 0;  // numbers are not keys: what is behind the first without an end is read again
  std::int64_t first_open = 0;
  for (const auto& [number, entry] : ledger_) {
    after = std::max(after, entry.key);
    if (!is_final(entry.verdict) && (first_open == 0 || entry.key < first_open)) first_open = entry.key;
  }
  read_page(first_open == 0 ? after : first_open - 1, std::move(done));
}

void Post::read_page(std::int64_t after, std::move_only_function<void(Result<void>)> done) {
  ask(MessageType::MessagesQuery, {{"limit", protocol::kMaxQueryRows}, {"order", "asc"}, {"afterKey", after}},
      [this, after, done = std::move(done)](Result<json::object> page) mutable {
        if (!page) return done(Failure{page.error()});
        const auto* rows = array_member(*page, "messages");
        if (rows == nullptr || rows->empty()) return done({});
        auto last = after;
        for (const auto& row : *rows) {
          if (!row.is_object()) continue;
          const auto& message = row.get_object();
          const auto key = integer_member(message, "key").value_or(0);
          last = std::max(last, key);
          for (const auto& found : parcels_in(string_member(message, "body").value_or(""))) {
            auto& entry = ledger_[found.number];
            if (entry.key != 0 && entry.key != key) ++stored_twice_;
            entry = {.id = string_member(message, "id").value_or(""),
                     .key = key,
                     .verdict = verdict_of(string_member(message, "status").value_or(""), ""),
                     .reason = {}};
          }
        }
        if (last == after) return done(fail("the daemon lists messages without keys"));
        read_page(last, std::move(done));
      });
}

void Post::trace_all(std::move_only_function<void(Result<void>)> done) {
  traced_ = std::move(done);
  trace_from(ledger_.begin());
}

void Post::trace_from(std::map<Number, Entry>::iterator next) {
  if (next == ledger_.end()) return traced_({});
  ask(MessageType::Trace, {{"id", next->second.id}}, [this, next](Result<json::object> trace) {
    if (!trace) return traced_(Failure{trace.error()});
    auto& entry = next->second;
    const auto* deliveries = array_member(*trace, "deliveries");
    entry.verdict = Verdict::Missing;
    if (deliveries != nullptr && deliveries->size() == 1 && deliveries->front().is_object()) {
      const auto& delivery = deliveries->front().get_object();
      entry.verdict =
          verdict_of(string_member(delivery, "state").value_or(""), string_member(delivery, "proof").value_or(""));
      if (const auto* history = array_member(delivery, "history"); history != nullptr && !history->empty())
        if (const auto* last = history->back().if_object()) entry.reason = string_member(*last, "reason").value_or("");
    }
    trace_from(std::next(next));
  });
}

}  // namespace relay::verdicts
