/// The durable outbox of a name on this machine: what it said while the daemon was away.
///
/// One program per name may have it: two would take turns in one outbox. The lock is the outbox's own.
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
  std::string file;         // the name of its file; others beside it begin alike
  std::string claim_token;  // made once and kept: whoever holds the outbox holds the name
};

/// For a tool that runs inside the agent of that name ($AGENT_RELAY_NAME): the token to speak for it; else empty.
std::string stored_claim_token(const Context& context, const std::string& name);

/// What shows that the user speaks: the token of the home, under the user's own name or `human`. Empty under another name:
/// what is said with `--from NAME` has a peer's authority (a chat has its own rule, see chat.cc).
std::string user_token(const Context& context, const std::string& name);
/// The first of both that there is, for a message without a session.
std::string sender_token(const Context& context, const std::string& name);

Result<NamedOutbox> open_own_outbox(const Context& context, const std::string& name);

}  // namespace relay::cli
