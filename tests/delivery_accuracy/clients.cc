#include "clients.h"

#include <algorithm>

#include "base/format.h"
#include "base/json.h"
#include "protocol/limits.h"

namespace relay::accuracy {

using protocol::MessageType;

/// A link that sends messages and receives only responses.
class Clients::Sender final : public client::LinkListener {
 public:
  Sender(Clients& clients, const std::string& socket, const std::string& name)
      : clients_{clients},
        outbox_{client::Numbering::Epoch, {}, clients.random_},
        link_{clients.loop_, clients.network_, clients.random_, outbox_, options(socket, name), *this} {
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
  void on_stopped(const Error& why) override { clients_.nack_reason_ = why.message(); }
  client::AckMode on_incoming(const client::IncomingMessage&) override { return client::AckMode::Now; }
  void on_sent(const std::string&) override { ++clients_.stored_; }
  void on_refused(const std::string&, const protocol::Nack& why) override {
    clients_.nack_reason_ = relay::format("{}: {}", why.code, why.message);
  }
  void on_frame(const protocol::Envelope&) override {}

  Clients& clients_;
  client::Outbox outbox_;
  client::Link link_;
};

Clients::Clients(net::AsioLoop& loop, const std::string& socket, std::size_t senders) : loop_{loop}, network_{loop} {
  for (std::size_t i = 0; i < senders; ++i)
    senders_.push_back(std::make_unique<Sender>(*this, socket, relay::format("Sender{}", i)));
}
Clients::~Clients() = default;

Result<void> Clients::send(Number number, const PlannedMessage& message) {
  const json::object payload{{"kind", "message"}, {"body", body_of(number)}};
  RELAY_TRY(senders_.at(message.sender)
                ->link()
                .send({.to = relay::format("Agent{}", message.agent),
                       .payload = json::serialize(payload),
                       .payload_meta = message.immediate ? R"({"delivery":{"mode":"immediate"}})" : ""}));
  ++sent_;
  return {};
}

void Clients::request(MessageType type, const json::object& payload,
                      std::move_only_function<void(Result<json::object>)> on_response) {
  senders_.front()->link().request(
      type, json::serialize(payload),
      [on_response = std::move(on_response)](Result<const protocol::Envelope*> frame) mutable {
        if (!frame) return on_response(Failure{frame.error()});
        auto parsed = parse_json_object((*frame)->payload);
        if (parsed)
          if (const auto error = string_member(*parsed, "error")) return on_response(fail(*error));
        on_response(std::move(parsed));
      });
}

void Clients::check_agents(std::vector<std::string> names, std::move_only_function<void(bool)> on_response) {
  request(MessageType::ListAgents, {},
          [names = std::move(names), on_response = std::move(on_response)](Result<json::object> response) mutable {
            const auto* agents = response ? array_member(*response, "agents") : nullptr;
            if (agents == nullptr) return on_response(false);
            on_response(std::ranges::all_of(names, [&](const std::string& name) {
              return std::ranges::any_of(*agents, [&](const json::value& agent) {
                return agent.is_object() && string_member(agent.get_object(), "name") == name;
              });
            }));
          });
}

void Clients::update_records(std::move_only_function<void(Result<void>)> done) {
  std::int64_t after = 0;  // rows after the first pending one are read again
  std::int64_t first_open = 0;
  for (const auto& [number, entry] : records_) {
    after = std::max(after, entry.key);
    if (!is_final(entry.outcome) && (first_open == 0 || entry.key < first_open)) first_open = entry.key;
  }
  read_page(first_open == 0 ? after : first_open - 1, std::move(done));
}

void Clients::read_page(std::int64_t after, std::move_only_function<void(Result<void>)> done) {
  request(MessageType::MessagesQuery, {{"limit", protocol::kMaxQueryRows}, {"order", "asc"}, {"afterKey", after}},
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
              for (const auto& found : find_bodies(string_member(message, "body").value_or(""))) {
                auto& entry = records_[found.number];
                if (entry.key != 0 && entry.key != key) ++stored_twice_;
                entry = {.id = string_member(message, "id").value_or(""),
                         .key = key,
                         .outcome = parse_outcome(string_member(message, "status").value_or(""), ""),
                         .reason = {}};
              }
            }
            if (last == after) return done(fail("the daemon lists messages without a key"));
            read_page(last, std::move(done));
          });
}

void Clients::trace_all(std::move_only_function<void(Result<void>)> done) {
  on_traced_ = std::move(done);
  trace_from(records_.begin());
}

void Clients::trace_from(std::map<Number, DeliveryRecord>::iterator record) {
  if (record == records_.end()) return on_traced_({});
  request(MessageType::Trace, {{"id", record->second.id}}, [this, record](Result<json::object> trace) {
    if (!trace) return on_traced_(Failure{trace.error()});
    auto& entry = record->second;
    const auto* deliveries = array_member(*trace, "deliveries");
    entry.outcome = Outcome::Missing;
    if (deliveries != nullptr && deliveries->size() == 1 && deliveries->front().is_object()) {
      const auto& delivery = deliveries->front().get_object();
      entry.outcome =
          parse_outcome(string_member(delivery, "state").value_or(""), string_member(delivery, "proof").value_or(""));
      if (const auto* history = array_member(delivery, "history"); history != nullptr && !history->empty())
        if (const auto* last = history->back().if_object()) entry.reason = string_member(*last, "reason").value_or("");
    }
    trace_from(std::next(record));
  });
}

}  // namespace relay::accuracy
