#include "host/host_process.h"

#include <signal.h>
#include <string.h>

#include <filesystem>

#include "base/format.h"
#include "host/control/peer_classifier.h"
#include "net/signals.h"
#include "pty/forwarded_signals.h"

namespace relay::host {
namespace {

HostServer::OriginOf make_classifier(const HostPaths& paths) {
  namespace fs = std::filesystem;
  const auto projects = fs::path{paths.records}.parent_path().parent_path().string();
  const auto sockets = fs::path{paths.socket}.parent_path().string();
  return [classifier = std::make_shared<PeerClassifier>(paths.records, projects, std::vector{projects, sockets})](
             const net::Peer& peer) { return classifier->classify(peer.pid); };
}

}  // namespace

HostProcess::HostProcess(net::AsioLoop& loop, HostOptions options, client::Outbox& outbox)
    : loop_{loop},
      headless_{options.record.headless},
      host_{{.loop = loop_, .network = network_, .random = random_, .outbox = outbox}, complete(std::move(options))} {}

HostOptions HostProcess::complete(HostOptions options) {
  options.classify_peer = make_classifier(options.paths);
  options.open_user_terminal =
      [this](pty::UserTerminalListener& listener) -> Result<std::unique_ptr<pty::UserTerminal>> {
    if (!pty::UserTerminal::is_one()) return nullptr;
    return pty::UserTerminal::open(loop_, listener);
  };
  options.on_agent_exit = [this] { on_agent_exit_(); };
  options.on_finished = [this] { loop_.stop(); };
  return options;
}

Result<pty::ExitStatus> HostProcess::run() {
  std::unique_ptr<pty::ForwardedSignals> forwarded;
  if (headless_) {  // before the program starts, so that it misses no signal
    forwarded = RELAY_TRY(pty::ForwardedSignals::open());
    on_agent_exit_ = [&forwarded] { forwarded->stop(); };
  }
  RELAY_TRY(host_.start());
  std::optional<net::Signals> signals;
  if (headless_)
    forwarded->to(loop_, host_.agent_pid());
  else
    signals.emplace(loop_, std::initializer_list<int>{SIGTERM, SIGINT, SIGHUP}, [this](int number) {
      const char* name = ::sigabbrev_np(number);
      host_.release({.reason = format("the host got SIG{}", name != nullptr ? name : "")});
    });
  loop_.run();
  on_agent_exit_ = [] {};
  host_.close();
  return host_.status();
}

}  // namespace relay::host
