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

Error bye_reason(const protocol::Envelope& bye) {
  const auto parsed = protocol::parse_bye(bye.payload);
  return Error{{}, parsed && !parsed->reason.empty() ? parsed->reason : std::string{protocol::kDaemonStopping}};
}

ExitCode follow(const std::function<Error(DaemonConnection&)>& print_frames, DaemonConnection connection,
                const Context& context) {
  for (;;) {
    const auto error = print_frames(connection);
    if (is(error, Errc::Refused)) return report_error(error);
    if (is(error, Errc::OutputClosed)) return ExitCode::Failed;
    const bool closed = error.message() == protocol::kWorkspaceClosed;
    print_notice(closed ? relay::format("{}; waiting until it is open again", error.message())
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
