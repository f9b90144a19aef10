#include "cli/framework/failure.h"

#include "cli/agent/launch.h"
#include "cli/wire/daemon_connection.h"
#include "client/errors.h"
#include "config/settings.h"
#include "daemon/daemon.h"

namespace relay::cli {

ExitReason exit_reason(const Error& error) {
  const auto is_any = [&](auto... codes) { return (is(error, codes) || ...); };
  if (is_any(Errc::NoDaemon, Errc::Lost, client::Errc::NoDaemon, client::Errc::Lost)) return {ExitCode::NoDaemon};
  if (is_any(Errc::TimedOut, client::Errc::TimedOut)) return {ExitCode::TimedOut};
  if (is_any(Errc::TooLarge, client::Errc::TooLarge)) return {ExitCode::Refused, name_of(protocol::NackCode::TooLarge)};
  if (const auto code = protocol::nack_code_of(error)) return {ExitCode::Refused, name_of(*code)};
  if (is_any(Errc::NameInUse)) return {ExitCode::Refused, name_of(protocol::NackCode::NotOwner)};
  if (is_any(Errc::Refused, client::Errc::Refused, daemon::Errc::AlreadyRunning, LaunchErrc::AlreadyRunning,
             config::Errc::NotTrusted))
    return {ExitCode::Refused};
  return {ExitCode::Failed};
}

ExitCode report_error(const Error& error) {
  const auto reason = exit_reason(error);
  return report_error(error.message(), reason.code, reason.name);
}

ExitCode report_error(const protocol::Nack& nack) {
  auto message = nack.message.empty() ? "the daemon refused: " + nack.code : nack.message;
  if (nack.code == name_of(protocol::NackCode::UnknownRecipient))
    message += message.ends_with('?') ? " agent-relay agents --all lists all agents"
                                      : "; agent-relay agents --all lists all agents";
  return report_error(message, ExitCode::Refused, nack.code);
}

}  // namespace relay::cli
