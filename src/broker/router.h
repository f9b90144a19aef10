/// SEND: checks whether it is allowed, and finds the recipients. It is stored first and answered afterwards
/// (send_completion.h).
/// Threading: the broker's.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "broker/blocking_requests.h"
#include "broker/commit_budget.h"
#include "broker/event_recorder.h"
#include "broker/loop_breaker.h"
#include "broker/one_shot_senders.h"
#include "broker/publisher.h"
#include "broker/send_replies.h"

namespace relay::broker {

/// A recipient inside the broker (`_consensus`, `_router`).
class InternalRecipient {
 public:
  virtual ~InternalRecipient() = default;
  virtual void on_message(SendContext& sending) = 0;
};

class Router {
 public:
  Router(Context& context, CommitPipeline& commits, CommitBudget& budget, Connections& connections, Agents& agents,
         const Audiences& audiences, EventRecorder& event_recorder, LoopBreaker& loops, const Authority& authority,
         OneShotSenders& one_shot, SendReplies& replies, BlockingRequests& blocking, Publisher& publisher)
      : context_{context},
        commits_{commits},
        budget_{budget},
        connections_{connections},
        agents_{agents},
        audiences_{audiences},
        event_recorder_{event_recorder},
        loops_{loops},
        authority_{authority},
        one_shot_{one_shot},
        replies_{replies},
        blocking_{blocking},
        publisher_{publisher} {}

  /// The recipient outlives this object.
  void add_internal_recipient(std::string_view name, InternalRecipient& recipient) {
    internal_.emplace_back(name, &recipient);
  }

  void on_send(ConnectionState& connection, const protocol::Envelope& envelope, std::size_t frame_bytes);
  /// A SEND before HELLO, with `from` and `to`.
  void on_one_shot_send(ConnectionState& connection, const protocol::Envelope& envelope, std::size_t frame_bytes);
  /// A SEND with a readable id and an invalid frame.
  void refuse_invalid(ConnectionState& connection, const protocol::Envelope& head, std::size_t frame_bytes,
                      std::string_view reason);

  /// The steps that a SEND and a CHANNEL_MESSAGE share. The first two answer the sender when they return false.
  [[nodiscard]] bool parse(SendContext& sending);
  [[nodiscard]] bool check_sender(SendContext& sending);
  void accept(SendContext& sending, std::string_view to, const Audience& audience, records::FrameKind frame_kind);
  /// Checks the recipients' policies and the loop breaker.
  std::optional<Rejection> check_policy_and_loops(const SendContext& sending, const Audience& audience);
  /// Why the message had already expired when it arrived; empty: it had not.
  [[nodiscard]] std::string_view expired_reason(const SendContext& sending) const;
  [[nodiscard]] AgentState* sender_of(const ConnectionState& connection) {
    return connection.query_only ? nullptr : agents_.find(connection.agent->value());
  }

 private:
  [[nodiscard]] bool is_within_rate(SendContext& sending);
  [[nodiscard]] bool fits_frame(SendContext& sending);
  [[nodiscard]] bool open_blocking_request(SendContext& sending);
  [[nodiscard]] Result<Audience> recipients_of(const SendContext& sending);
  [[nodiscard]] std::optional<Rejection> check_observed(const SendContext& sending, const Audience& audience) const;

  Context& context_;
  CommitPipeline& commits_;
  CommitBudget& budget_;
  Connections& connections_;
  Agents& agents_;
  const Audiences& audiences_;
  EventRecorder& event_recorder_;
  LoopBreaker& loops_;
  const Authority& authority_;
  OneShotSenders& one_shot_;
  SendReplies& replies_;
  BlockingRequests& blocking_;
  Publisher& publisher_;
  std::vector<std::pair<std::string_view, InternalRecipient*>> internal_;
};

}  // namespace relay::broker
