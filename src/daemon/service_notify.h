/// Reports the daemon's state to the service manager; no effect without one.
#pragma once

namespace relay::daemon {

void notify_ready();
void notify_reloading();  // followed by notify_ready when done
void notify_stopping();

}  // namespace relay::daemon
