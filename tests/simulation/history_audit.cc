// The checks at the end of a run: no acknowledged message is missing, and the history in the store equals the model.
#include "base/format.h"
#include "base/json.h"
#include "records/short_id.h"
#include "tests/simulation/history_checker.h"

namespace relay::simulation {

using records::DeliveryState;

void HistoryChecker::check_end(store::MessageStore& store) {
  std::set<std::pair<std::uint64_t, std::string>> addressed, ended;
  for (const auto& [key, delivery] : deliveries_) addressed.insert({delivery.number, delivery.to});
  for (const auto& [key, row] : model_.rows())
    if (row.delivery.state != DeliveryState::Delivered && records::is_final(row.delivery.state))
      ended.insert({row.number, row.delivery.to.value()});  // each of them was checked
  for (std::uint64_t number = 1; number <= messages_.size(); ++number) {
    const auto& message = messages_[number - 1];
    const bool direct = message.to != "*" && !message.to.starts_with('#');
    if (message.status == SendStatus::Acknowledged && direct && stored_.contains(number) &&
        !received_.contains({number, message.to}) && !ended.contains({number, message.to}) && !lost_.contains(number) &&
        !ended_in(store, number, message.to))
      violate(format("m{} was acknowledged and never reached {}", number, message.to));
  }
  if (damaged_) return;
  for (const auto& [number, client] : received_)
    if (!addressed.contains({number, client}))
      violate_unless_damaged(format("m{} reached {}, which is not a recipient", number, client));
  check_history(store);
  check_events(store);
}

/// After damage the store may have a final state that the model does not.
bool HistoryChecker::ended_in(store::MessageStore& store, std::uint64_t number, const std::string& to) const {
  if (!damaged_) return false;
  for (const auto& [key, delivery] : deliveries_) {
    if (delivery.number != number || delivery.to != to) continue;
    records::DeliveryQuery query;
    query.deliveries = {Key{key}};
    const auto row = store.deliveries(query);
    if (!row || row->empty()) continue;
    const auto state = row->front().delivery.state;
    if (records::is_final(state) && state != DeliveryState::Delivered) return true;
  }
  return false;
}

void HistoryChecker::check_history(store::MessageStore& store) {
  std::set<Key> messages;
  for (const auto& [key, row] : model_.rows()) messages.insert(row.delivery.message);
  for (const Key message : messages) {
    const auto trace = store.trace(records::short_id(message));
    if (!trace) {
      violate_unless_damaged(
          format("the store cannot show {}: {}", records::short_id(message), trace.error().message()));
      continue;
    }
    for (const auto& entry : trace->deliveries) {
      const Row* const row = model_.find(entry.delivery.key);
      const auto id = records::delivery_id(entry.delivery.key);
      if (row == nullptr) {
        violate_unless_damaged(format("the store has {}, which was never added", id));
        continue;
      }
      bool same = row->history.size() == entry.history.size() && row->delivery.state == entry.delivery.state;
      for (std::size_t i = 0; same && i < row->history.size(); ++i)
        same = row->history[i].state == entry.history[i].state && row->history[i].proof == entry.history[i].proof;
      if (same) continue;
      std::string text = format("the history of {} (m{}) differs from the model:", id, row->number);
      for (const auto& line : entry.history) text += format(" {}/{}", name_of(line.state), name_of(line.proof));
      text += " |";
      for (const auto& line : row->history) text += format(" {}/{}", name_of(line.state), name_of(line.proof));
      violate_unless_damaged(text);
    }
  }
}

void HistoryChecker::check_events(store::MessageStore& store) {
  records::EventSeq last = 0;
  std::map<std::string, std::vector<std::string>> states_of;  // by delivery
  records::EventQuery query;
  query.limit = 1'000;
  for (bool more = true; more;) {
    const auto page = store.events(query);
    if (!page) return violate_unless_damaged(format("the log of events cannot be read: {}", page.error().message()));
    for (const auto& event : page->events) {
      if (event.number != ++last)
        return violate_unless_damaged(format("event {} where {} is expected", event.number, last));
      if (!event.type.starts_with("delivery.")) continue;
      const auto object = parse_json_object(event.json).value();
      states_of[string_member(object, "deliveryId").value()].push_back(string_member(object, "state").value_or(""));
    }
    query.after = page->next_after;
    more = page->more;
  }
  for (const auto& [key, row] : model_.rows()) {
    const auto& states = states_of[records::delivery_id(key)];
    bool same = states.size() == row.history.size();
    for (std::size_t i = 0; same && i < states.size(); ++i) same = states[i] == name_of(row.history[i].state);
    if (!same)
      violate_unless_damaged(format("{} has {} events and {} history entries", records::delivery_id(key), states.size(),
                                    row.history.size()));
  }
}

}  // namespace relay::simulation
