#include "daemon/home_watch.h"

#include <utility>

#include "base/log.h"

namespace relay::daemon {

HomeWatch::HomeWatch(net::AsioLoop& loop, const std::vector<std::string>& paths, net::Task on_lost)
    : on_lost_{std::move(on_lost)} {
  for (const auto& path : paths) {
    auto watch = net::FileWatch::start(loop, path, [this, path](net::FileWatchEvent event) {
      if (event == net::FileWatchEvent::Removed || event == net::FileWatchEvent::Replaced) report_lost(path);
    });
    if (watch)
      watches_.push_back(*std::move(watch));
    else
      log::warn("the removal of the relay home is not detected", {{"reason", watch.error().message()}});
  }
}

void HomeWatch::report_lost(const std::string& path) {
  if (auto task = std::exchange(on_lost_, nullptr)) {
    log::error("the daemon cannot be reached any more and ends", {{"removed", path}});
    task();
  }
}

}  // namespace relay::daemon
