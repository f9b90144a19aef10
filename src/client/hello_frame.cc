#include "client/hello_frame.h"

#include "protocol/contract.h"
#include "text/json_writer.h"

namespace relay::client {

std::string write_hello(const protocol::Hello& hello) {
  const auto& can = hello.capabilities;
  text::JsonWriter writer;
  writer.field("agent", hello.agent);
  writer.begin_object("capabilities")
      .field("ack", can.ack)
      .field("resume", can.resume)
      .field("max_inflight", can.max_inflight)
      .field("supports_topics", can.supports_topics)
      .field("send_ack", can.send_ack)
      .field("receipts", can.receipts)
      .optional("outbox", can.outbox);
  if (can.receipt_steps) writer.field("receipt_steps", true);
  protocol::write_contract(writer, can);
  writer.end();
  if (hello.entity == protocol::EntityType::User) writer.field("entityType", "user");
  if (hello.system_component) writer.field("_isSystemComponent", true);
  writer.optional("cli", hello.cli)
      .optional("program", hello.program)
      .optional("model", hello.model)
      .optional("task", hello.task)
      .optional("workingDirectory", hello.working_directory)
      .optional("team", hello.team)
      .optional("displayName", hello.display_name)
      .optional("avatarUrl", hello.avatar_url)
      .optional("version", hello.version)
      .optional("permissionMode", hello.permission_mode);
  if (!hello.resume_token.empty() || !hello.claim_token.empty() || !hello.system_token.empty()) {
    writer.begin_object("session")
        .optional("resume_token", hello.resume_token)
        .optional("claim_token", hello.claim_token)
        .optional("system_token", hello.system_token);
    if (!hello.resume_token.empty() && !hello.unsettled.empty()) {
      writer.begin_array("unsettled");
      for (const auto& id : hello.unsettled) writer.element(id);
      writer.end();
    }
    if (!hello.resume_token.empty()) writer.optional("state", hello.state);
    writer.end();
  }
  return writer.take();
}

}  // namespace relay::client
