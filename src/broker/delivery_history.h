/// Writes entries of delivery histories; each is saved and then reported to the sender that awaits it.
#pragma once

#include <memory>
#include <optional>

#include "broker/blocking_requests.h"
#include "broker/commit_pipeline.h"

namespace relay::broker {

/// The prefix of the last reason of a redelivered delivery, before the id of the new one.
inline constexpr std::string_view kRedeliveredAs = "redelivered as ";

class DeliveryHistory {
 public:
  DeliveryHistory(Context& context, CommitPipeline& commits, BlockingRequests& blocking)
      : context_{context}, commits_{commits}, blocking_{blocking} {}

  void record(const AgentState& agent, std::shared_ptr<const records::Message> message, records::ChangeDelivery entry,
              std::optional<protocol::NackCode> code = {});

 private:
  Context& context_;
  CommitPipeline& commits_;
  BlockingRequests& blocking_;
};

/// A message without its body.
std::shared_ptr<const records::Message> heading_of(Key key, const AgentName& from, const AgentName& to);

}  // namespace relay::broker
