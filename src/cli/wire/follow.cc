#include "cli/wire/follow.h"

#include <thread>

#include "base/format.h"
#include "cli/framework/failure.h"
#include "cli/wire/workspace.h"
#include "protocol/bye.h"

namespace relay::cli {
namespace {

constexpr std::chrono::milliseconds kFirstRetry{100}, kMaxRetry{2'000};

}  // namespace

Error goodbye_of(const protocol::Envelope& bye) {
  const auto said = protocol::parse_bye(bye.payload);
  return Error{{}, said && !said->reason.empty() ? said->reason : std::string{protocol::kDaemonStopping}};
}

ExitCode follow(const std::function<Error(DaemonConnection&)>& follow, DaemonConnection connection,
                const Context& context) {
  for (;;) {
    const auto why = follow(connection);
    if (is(why, Errc::Refused)) return report_error(why);
    if (is(why, Errc::OutputClosed)) return ExitCode::Failed;
    const bool closed = why.message() == protocol::kWorkspaceClosed;
    print_notice(closed ? relay::format("{}; waiting until it is open again", why.message())
                        : "lost the connection to the daemon; reconnecting");
    for (auto pause = kFirstRetry;; pause = std::min(pause * 2, kMaxRetry)) {
      if (auto again = join_workspace(context)) {
        connection = *std::move(again);
        break;
      }
      std::this_thread::sleep_for(pause);
    }
    print_notice(closed ? "the workspace is open again" : "reconnected to the daemon");
  }
}

}  // namespace relay::cli
