#include "broker/delivery_history.h"

#include "base/format.h"
#include "records/short_id.h"

namespace relay::broker {

std::shared_ptr<const records::Message> heading_of(Key key, const AgentName& from, const AgentName& to) {
  records::Message message;
  message.key = key;
  message.from = from;
  message.to = to.value();
  return std::make_shared<const records::Message>(std::move(message));
}

void DeliveryHistory::record(const AgentState& agent, std::shared_ptr<const records::Message> message,
                             records::ChangeDelivery entry, std::optional<protocol::NackCode> code) {
  entry.at = context_.wall();
  if (agent.session) entry.session = agent.session->id;
  if (entry.state == records::DeliveryState::Expired) code = protocol::NackCode::Expired;
  if (entry.state == records::DeliveryState::Delivered || entry.proof >= records::Proof::Written)
    blocking_.mark_delivered(agent.name(), message->key);
  if (context_.limits().explain)
    context_.log(WriteLog::Level::Debug,
                 format("delivery changed message={} to={} state={} proof={} via={} reason=\"{}\"",
                        records::short_id(message->key), agent.name().value(), name_of(entry.state),
                        name_of(entry.proof), entry.via, entry.reason));
  commits_.save_eventually(std::move(entry), ReceiptContext{std::move(message), agent.name(), code});
}

}  // namespace relay::broker
