// Listings for a person's hand: DEAD, LOOPS and CHANNELS.
#include "broker/core.h"
#include "broker/query_error.h"
#include "records/short_id.h"
#include "text/utf8.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using records::DeliveryState;
using text::JsonWriter;

namespace {

constexpr std::size_t kShownBodyBytes = 512;

std::optional<DeliveryState> parse_dead_state(std::string_view name) {
  for (const auto state :
       {DeliveryState::Dead, DeliveryState::Failed, DeliveryState::Expired, DeliveryState::InDoubt}) {
    if (name_of(state) == name) return state;
  }
  return std::nullopt;
}

}  // namespace

std::vector<DeliveryState> Core::parse_dead_states(const std::vector<std::string>& names) {
  std::vector<DeliveryState> states;
  for (const auto& name : names) {
    if (const auto state = parse_dead_state(name)) states.push_back(*state);
  }
  return states;
}

void Core::on_dead(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_dead(envelope.payload);
  if (!wanted) return error(connection, ErrorCode::BadRequest, wanted.error().message());
  const auto id = ask(connection, envelope.id, MessageType::DeadResponse);
  if (!id) return;
  records::DeadQuery query;
  query.to = wanted->agent;
  query.from = wanted->from;
  query.states = parse_dead_states(wanted->states);
  query.before = Key{wanted->before_key};
  asked_[*id].limit = wanted->limit == 0 ? protocol::kDefaultMessageRows : wanted->limit;
  query.limit = asked_[*id].limit + 1;  // one more tells whether there are more
  emit(QueryDead{*id, std::move(query)});
}

void Core::list_dead(QueryId id, Result<std::vector<records::DeadLetter>> letters) {
  const auto asked = take_asked(id);
  ConnectionState* connection = asked ? find(asked->connection) : nullptr;
  if (connection == nullptr || connection->phase != Phase::Active) return;
  JsonWriter payload;
  if (!letters) write_query_error(payload, letters.error());
  payload.begin_array("deliveries");
  std::size_t shown = 0, read_bytes = 0;
  bool more = false;
  for (const auto& letter : letters ? *letters : std::vector<records::DeadLetter>{}) {
    more = shown == asked->limit || payload.size() > protocol::kMaxResponseBytes;
    if (more) break;
    ++shown;
    read_bytes += letter.message.payload.size();
    const auto view = protocol::parse_send(letter.message.payload);
    const auto body = view ? text::decode_string(view->body.empty() ? "\"\"" : view->body) : std::string{};
    payload.begin_element()
        .field("deliveryId", records::delivery_id(letter.delivery.key))
        .field("id", records::short_id(letter.message.key))
        .field("from", letter.message.from.value())
        .field("to", letter.delivery.to.value())
        .field("state", name_of(letter.delivery.state))
        .field("reason", letter.last.reason)
        .field("at", letter.last.at)
        .field("attempts", letter.delivery.attempts)
        .field("key", letter.delivery.key.value())
        .field("body", text::truncate_utf8(body, kShownBodyBytes))
        .end();
  }
  payload.end();
  // The store stops early at long letters, so a heavy page may not be the last one.
  if (more || read_bytes > protocol::kMaxResponseBytes) payload.field("more", true);
  respond(*connection, asked->answer, asked->request_id, payload.take());
}

void Core::on_loops(ConnectionState& connection, const protocol::Envelope& envelope) {
  JsonWriter payload;
  payload.begin_array("breakers");
  for (const auto& trip : loops_.open(now_)) {
    if (payload.size() > protocol::kMaxResponseBytes) break;
    payload.begin_element().field("from", trip.from).field("to", trip.to).field("reason", trip.reason);
    payload.field("at", trip.at).field("until", trip.until).field("trips", trip.trips).field("refused", trip.refused);
    payload.end();
  }
  payload.end();
  respond(connection, MessageType::LoopsResponse, envelope.id, payload.take());
}

void Core::on_channels(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_channels(envelope.payload);
  if (!wanted) return error(connection, ErrorCode::BadRequest, wanted.error().message());
  JsonWriter payload;
  if (wanted->empty()) {
    payload.begin_array("channels");
    for (const auto& [name, members] : channels_) {
      if (payload.size() > protocol::kMaxResponseBytes) break;
      payload.begin_element().field("name", name).field("members", members.size()).end();
    }
    payload.end();
  } else {
    payload.field("channel", *wanted).begin_array("members");
    for (const AgentName& name : channel_members(*wanted)) {
      if (payload.size() > protocol::kMaxResponseBytes) break;
      const AgentState* member = find_agent(name.value());
      payload.begin_element().field("name", name.value());
      payload.field("connected", member != nullptr && member->connected()).end();
    }
    payload.end();
  }
  respond(connection, MessageType::ChannelsResponse, envelope.id, payload.take());
}

}  // namespace relay::broker
