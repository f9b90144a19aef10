#include "daemon/service_notify.h"

#include <systemd/sd-daemon.h>

#include <chrono>

#include "base/format.h"

namespace relay::daemon {

void notify_ready() { ::sd_notify(0, "READY=1\nSTATUS=listening"); }

void notify_reloading() {
  // The time distinguishes this reload from an earlier one (sd_notify(3)).
  const auto now =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch());
  ::sd_notify(0, format("RELOADING=1\nMONOTONIC_USEC={}", now.count()).c_str());
}

void notify_stopping() { ::sd_notify(0, "STOPPING=1\nSTATUS=draining"); }

}  // namespace relay::daemon
