/// The durable outbox of a name on this machine: messages spooled while the daemon is down.
///
/// One program at a time may open it; the outbox has a lock file.
#pragma once

#include <memory>
#include <string>

#include "base/directory.h"
#include "base/random.h"
#include "base/result.h"
#include "cli/framework/context.h"
#include "client/outbox.h"

namespace relay::cli {

struct NamedOutbox {
  std::unique_ptr<SystemRandom> random;
  std::unique_ptr<DiskDirectory> directory;
  std::unique_ptr<client::Outbox> outbox;
  std::string file;         // the file name, a prefix of the names of its other files
  std::string claim_token;  // created once and stored: the owner of the outbox owns the name
};

/// The claim token of `name` for a tool inside the agent of that name ($AGENT_RELAY_NAME); else empty.
std::string stored_claim_token(const Context& context, const std::string& name);

/// The token that proves the user's authority, for the user's own name or `human`. Empty for another name: a message with
/// `--from NAME` has a peer's authority (chat differs, see chat.cc).
std::string user_token(const Context& context, const std::string& name);
/// The claim token if there is one, else the user token: for a message without a session.
std::string sender_token(const Context& context, const std::string& name);

Result<NamedOutbox> open_named_outbox(const Context& context, const std::string& name);

}  // namespace relay::cli
