/// The frames of channels, topics and shadows. Audiences holds the members, subscribers and bindings.
///
/// Bounds: kMaxMemberships in a workspace, protocol::kMaxChannelsPerAgent, kMaxTopicsPerSession, kMaxShadowsPerSession.
/// Threading: the broker's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "broker/router.h"
#include "protocol/requests.h"
#include "text/json_writer.h"

namespace relay::broker {

/// Also the internal recipient `_router`, through which published clients change memberships.
class Channels final : public InternalRecipient {
 public:
  Channels(Context& context, CommitPipeline& commits, Connections& connections, Agents& agents, Audiences& audiences,
           AgentRemoval& removal, OneShotSenders& one_shot, SendReplies& replies, Publisher& publisher, Router& router)
      : context_{context},
        commits_{commits},
        connections_{connections},
        agents_{agents},
        audiences_{audiences},
        removal_{removal},
        one_shot_{one_shot},
        replies_{replies},
        publisher_{publisher},
        router_{router} {}

  // channels.cc
  void on_join(ConnectionState& connection, const protocol::Envelope& envelope) {
    on_change(connection, envelope, true);
  }
  void on_leave(ConnectionState& connection, const protocol::Envelope& envelope) {
    on_change(connection, envelope, false);
  }
  void on_channel_message(ConnectionState& connection, const protocol::Envelope& envelope, std::size_t frame_bytes);
  void on_message(SendContext& sending) override;
  void on_channels(ConnectionState& connection, const protocol::Envelope& envelope);

  // topics.cc
  void on_subscribe(ConnectionState& connection, const protocol::Envelope& envelope) {
    on_subscription(connection, envelope, true);
  }
  void on_unsubscribe(ConnectionState& connection, const protocol::Envelope& envelope) {
    on_subscription(connection, envelope, false);
  }
  void on_topics(ConnectionState& connection, const protocol::Envelope& envelope);

  // shadows.cc
  void on_shadow_bind(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_shadow_unbind(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_shadows(ConnectionState& connection, const protocol::Envelope& envelope);
  /// Messages to the shadows of the agent that want this trigger.
  void trigger_shadows(const AgentName& primary, std::string_view trigger);

 private:
  void on_change(ConnectionState& connection, const protocol::Envelope& envelope, bool join);
  [[nodiscard]] std::optional<Rejection> check_join(const AgentName& member);
  bool change_membership(const std::string& channel, const AgentName& member, bool join);
  void on_subscription(ConnectionState& connection, const protocol::Envelope& envelope, bool subscribe);
  [[nodiscard]] std::optional<Rejection> change_topics(const ConnectionState& connection,
                                                       const protocol::TopicsRequest& request);
  std::optional<Rejection> set_subscription(AgentState& agent, const std::string& topic, bool subscribe);
  void list_topics(text::JsonWriter& out, const protocol::TopicsRequest& request) const;

  Context& context_;
  CommitPipeline& commits_;
  Connections& connections_;
  Agents& agents_;
  Audiences& audiences_;
  AgentRemoval& removal_;
  OneShotSenders& one_shot_;
  SendReplies& replies_;
  Publisher& publisher_;
  Router& router_;
};

}  // namespace relay::broker
