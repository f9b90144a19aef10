#include "cli/failure.h"

#include "cli/connection.h"
#include "cli/launch.h"
#include "client/errors.h"
#include "config/settings.h"
#include "daemon/daemon.h"

namespace relay::cli {

Ending ending_of(const Error& error) {
  const auto is_any = [&](auto... codes) { return (is(error, codes) || ...); };
  if (is_any(Errc::NoDaemon, Errc::Lost, client::Errc::NoDaemon, client::Errc::Lost)) return {ExitCode::NoDaemon};
  if (is_any(Errc::TimedOut, client::Errc::TimedOut)) return {ExitCode::TimedOut};
  if (is_any(Errc::TooLarge, client::Errc::TooLarge)) return {ExitCode::Refused, name_of(protocol::Refusal::TooLarge)};
  if (is_any(Errc::NameInUse)) return {ExitCode::Refused, name_of(protocol::Refusal::NotOwner)};
  if (is_any(Errc::Refused, client::Errc::Refused, daemon::Errc::AlreadyRunning, LaunchErrc::AlreadyRunning,
             config::Errc::NotTrusted))
    return {ExitCode::Refused};
  return {ExitCode::No};
}

ExitCode complain(const Error& error) {
  const auto ending = ending_of(error);
  return complain(error.message(), ending.code, ending.word);
}

ExitCode complain(const protocol::NackView& refusal) {
  auto sentence = refusal.message.empty() ? "the daemon refused: " + refusal.code : refusal.message;
  if (refusal.code == name_of(protocol::Refusal::UnknownRecipient))
    sentence += sentence.ends_with('?') ? " agent-relay agents --all lists everyone"
                                        : "; agent-relay agents --all lists everyone";
  return complain(sentence, ExitCode::Refused, refusal.code);
}

}  // namespace relay::cli
