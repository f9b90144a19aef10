/// Creates a message and its deliveries: keys, numbers, changes. Nothing is sent before they are committed.
/// Threading: the broker's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/audiences.h"
#include "broker/commit_pipeline.h"
#include "broker/expiry.h"
#include "broker/rejection.h"

namespace relay::broker {

/// The recipients of one message.
using Audience = std::vector<AgentState*>;

class Publisher {
 public:
  Publisher(Context& context, CommitPipeline& commits, Agents& agents, const Audiences& audiences, Streams& streams,
            Expiry& expiry)
      : context_{context},
        commits_{commits},
        agents_{agents},
        audiences_{audiences},
        streams_{streams},
        expiry_{expiry} {}

  /// Rejects a message whose streams have no room for their numbers. Idle streams are forgotten to make room.
  std::optional<Rejection> check_streams(const Topic& topic, const AgentName& from, protocol::Lane lane,
                                         const Audience& audience);
  /// Rejects a stream without a topic between the two, unless it exists or there is room beside `others` reserved ones.
  [[nodiscard]] std::optional<Rejection> check_stream(const AgentName& from, const AgentName& to,
                                                      std::size_t others) const;

  /// Adds the message of `pending` and its deliveries to the open batch. The caller adds `pending` to the commit
  /// pipeline.
  void add_message(PendingSend& pending, const Audience& audience, records::FrameKind frame_kind, protocol::Lane lane,
                   WallMs expires_at);

  /// A message by the broker itself (votes, triggers), stored and delivered like any other.
  void post(std::string_view from, const Audience& audience, std::string_view kind, std::string_view body,
            std::string_view data, std::string_view thread = {});
  /// The same for a complete message; it gets its key, id and time here.
  enum class Copies : std::uint8_t { None, ForShadows };
  Key post(records::Message message, const Audience& audience, Copies copies);

 private:
  struct CopyOptions {
    records::FrameKind frame_kind = records::FrameKind::Deliver;
    protocol::Lane lane = {};
    WallMs expires_at = 0;
    std::string shadow_of = {};
  };
  void add_delivery(PendingSend& pending, AgentState& to, const CopyOptions& options);
  void add_shadow_copies(PendingSend& pending, const Audience& audience, WallMs expires_at);

  Context& context_;
  CommitPipeline& commits_;
  Agents& agents_;
  const Audiences& audiences_;
  Streams& streams_;
  Expiry& expiry_;
};

}  // namespace relay::broker
