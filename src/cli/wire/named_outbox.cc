#include "cli/wire/named_outbox.h"

#include <cstdlib>
#include <filesystem>

#include "base/format.h"
#include "cli/wire/daemon_connection.h"
#include "client/claim_token.h"
#include "config/paths.h"
#include "config/system_token.h"
#include "host/control/host_record.h"
#include "protocol/names.h"
#include "tmux/commands.h"

namespace relay::cli {
namespace {

constexpr std::size_t kMaxPidBytes = 32;
constexpr std::size_t kMaxTokenBytes = 128;

std::string outbox_file(const std::string& name) { return config::file_name_of(name) + ".outbox"; }

/// The error for a name in use: by which program, and the next step.
std::string in_use_error(const Context& context, const std::string& name, pid_t holder) {
  const auto pid = holder == 0 ? std::string{} : relay::format(" (pid {})", holder);
  const auto host = host::find_host(context.project.hosts, name);
  if (!host || host->host_pid != holder || host->headless)
    return relay::format(
        "the name {} is in use by another program here{}; stop that one, or choose another with --name", name, pid);
  const bool in_tmux = host->detached && !host->spawned;
  return relay::format(
      "the name {} is in use by a running agent{}; attach to it with: agent-relay attach {}{}; for another agent, "
      "choose another name with --name",
      name, pid, name, in_tmux ? relay::format(" (or tmux attach -t ={})", tmux::session_name(name)) : "");
}

Result<std::unique_ptr<client::Outbox>> open_outbox(const Context& context, DiskDirectory& directory,
                                                    const std::string& name, Random& random) {
  const auto file = outbox_file(name);
  auto outbox = client::Outbox::open(directory, file, {}, client::SyncOn::Transmission, random);
  if (outbox || !is(outbox.error(), LockErrc::Held)) return outbox;
  const auto holder = directory.read(file + ".lock", kMaxPidBytes).value_or(std::nullopt).value_or("");
  return fail(Errc::NameInUse, in_use_error(context, name, std::atoi(holder.c_str())));
}

}  // namespace

std::string stored_claim_token(const Context& context, const std::string& name) {
  std::error_code none;
  if (context.environment("AGENT_RELAY_NAME") != name) return {};
  if (!std::filesystem::is_directory(context.project.outboxes, none)) return {};
  const auto directory = DiskDirectory::open(context.project.outboxes);
  if (!directory) return {};
  const auto token = (*directory)->read(outbox_file(name) + ".claim", kMaxTokenBytes);
  return token ? token->value_or("") : std::string{};
}

std::string user_token(const Context& context, const std::string& name) {
  if (name != context.own_name() && name != protocol::kUserName) return {};
  return config::read_system_token(context.home);
}

std::string sender_token(const Context& context, const std::string& name) {
  const auto claim = stored_claim_token(context, name);
  return claim.empty() ? user_token(context, name) : claim;
}

Result<NamedOutbox> open_named_outbox(const Context& context, const std::string& name) {
  RELAY_TRY(config::make_private_directory(context.project.outboxes));
  NamedOutbox own;
  own.random = std::make_unique<SystemRandom>();
  own.directory = RELAY_TRY(DiskDirectory::open(context.project.outboxes));
  own.outbox = RELAY_TRY(open_outbox(context, *own.directory, name, *own.random));
  own.file = outbox_file(name);
  own.claim_token = RELAY_TRY(client::load_or_create_claim_token(*own.directory, own.file + ".claim", *own.random));
  return own;
}

}  // namespace relay::cli
