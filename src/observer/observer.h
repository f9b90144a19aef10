/// Makes agents visible that were started without us and have our hooks (`agent-relay hooks install`).
///
/// Why a thread of its own in the daemon: transcripts are read and parsed here, which must not delay routing. It speaks to
///   workspaces over their sockets, as the HTTP API does.
/// Invariants: at most kMaxObserved agents at a time; what is beyond that is not observed and is logged. An agent that has a host
///   (its captured lines have a relay name) is the host's. Nothing that goes wrong here ends the daemon.
/// Ownership: owns thread, loop and everything on it; the destructor ends and joins it.
/// Threading: made and destroyed by one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/result.h"

namespace relay::observer {

inline constexpr std::size_t kMaxObserved = 64;

struct ObserverOptions {
  std::string capture_home;     // ~/.relay
  std::string control_socket;   // of the daemon
  std::string notes_directory;  // of texts that are being delivered
  /// The root of the project that a directory belongs to.
  std::function<std::string(const std::string& directory)> project_root = {};
};

class Observer {
 public:
  static Result<std::unique_ptr<Observer>> start(ObserverOptions options);
  ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

 private:
  struct Parts;
  explicit Observer(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
  std::thread thread_;
};

}  // namespace relay::observer
