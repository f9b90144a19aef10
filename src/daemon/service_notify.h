/// Tells the service manager how we are doing; nothing happens when there is none.
#pragma once

namespace relay::daemon {

void notify_ready();
void notify_reloading();  // followed by notify_ready when done
void notify_stopping();

}  // namespace relay::daemon
