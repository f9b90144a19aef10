/// The replies to a SEND: ACK once it is stored, NACK with the reason, and the same reply when the SEND is repeated.
///
/// Invariant: every SEND is answered. Clients that do not understand NACK get a non-fatal ERROR.
/// Threading: the broker's.
#pragma once

#include <string>
#include <string_view>

#include "broker/agent_removal.h"
#include "broker/agents.h"
#include "broker/commit_pipeline.h"
#include "broker/connections.h"
#include "broker/rejection.h"
#include "broker/send_context.h"

namespace relay::broker {

class SendReplies final : public NameHolder {
 public:
  SendReplies(Context& context, CommitPipeline& commits, Connections& connections, Agents& agents)
      : context_{context}, commits_{commits}, connections_{connections}, agents_{agents} {}

  void restore(const records::WorkspaceState& state);

  /// Answers a SEND that was answered before; false if it is new. Must run before every other check, because a refusal
  /// advances the outbox mark.
  bool answer_if_repeated(SendContext& sending);
  /// The same request under another id.
  [[nodiscard]] bool is_duplicate_key(const SendContext& sending) const;
  /// A repeated SEND to the broker itself, whose answer was lost with a failed commit.
  [[nodiscard]] bool was_executed(const SendContext& sending) const;

  void refuse(SendContext& sending, protocol::NackCode code, std::string_view message, std::int64_t retry_after_ms = 0);
  void refuse(SendContext& sending, const Rejection& rejection) {
    refuse(sending, rejection.code, rejection.message, rejection.retry_after_ms);
  }
  void refuse(ConnectionState& connection, std::string_view id, protocol::NackCode code, std::string_view message,
              std::int64_t retry_after_ms = 0);

  /// The message is being stored: its id counts as used.
  void remember(SendContext& sending, PendingSend& pending);
  void remember_key(const SendContext& sending, const std::string& idempotency_key);
  /// The commit of the message failed: the same id and key may be sent again.
  void forget(const PendingSend& send);
  /// Answers a SEND that is not a message to an agent, once its changes are committed.
  void acknowledge_when_saved(SendContext& sending);

  /// Without these ids a repeated message would be accepted as new.
  [[nodiscard]] bool is_using(const AgentState& agent) const override;

 private:
  void forget_id(const AgentName& from, const std::string& id, const std::string& epoch, std::uint64_t number);

  Context& context_;
  CommitPipeline& commits_;
  Connections& connections_;
  Agents& agents_;
};

}  // namespace relay::broker
