#include "client/link.h"

#include "client/link_machine.h"

namespace relay::client {

Link::Link(net::EventLoop& loop, net::Network& network, Random& random, Outbox& outbox, LinkOptions options,
           LinkListener& listener)
    : machine_{std::make_unique<Machine>(loop, network, random, outbox, std::move(options), listener)} {}

Link::~Link() = default;

void Link::start() { machine_->start(); }
void Link::stop(const protocol::Bye& bye) { machine_->stop(bye); }
void Link::retry_now() { machine_->retry_now(); }
LinkState Link::state() const { return machine_->state(); }
pid_t Link::daemon_pid() const { return machine_->daemon_pid(); }
Result<std::string> Link::send(const OutgoingMessage& message) { return machine_->send(message); }
bool Link::is_drained() const { return machine_->outbox().empty(); }
Result<std::string> Link::send_event(std::string payload) { return machine_->send_event(std::move(payload)); }
bool Link::has_pending_event(std::string_view id) const { return machine_->events().has(id); }
EventCounts Link::event_counts() const { return machine_->events().counts(); }
const std::deque<QueuedEvent>& Link::pending_events() const { return machine_->events().waiting(); }
void Link::acknowledge(const DeliveryRef& ref) { machine_->acknowledge(ref); }
void Link::report(const DeliveryRef& ref, protocol::Receipt receipt) { machine_->report(ref, std::move(receipt)); }

void Link::request(protocol::MessageType type, std::string_view payload, OnResponse on_response, Millis timeout) {
  machine_->request(type, payload, std::move(on_response), timeout);
}

Result<void> Link::send_frame(protocol::MessageType type, std::string_view payload, std::string_view topic,
                              std::string_view to) {
  return machine_->send_frame(type, payload, topic, to);
}

std::vector<StreamPosition> Link::positions() const { return machine_->positions().all(); }
const Session& Link::session() const { return machine_->session(); }

}  // namespace relay::client
