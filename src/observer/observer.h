/// Observes agents that were started without agent-relay but have its hooks (`agent-relay hooks install`).
///
/// Why a separate thread in the daemon: it reads and parses transcripts, which must not delay routing. It connects to
///   the sockets of workspaces, as the HTTP API does.
/// Invariants: at most kMaxObserved agents at a time; further agents are not observed, which is logged. An agent with a
///   host (its captured lines have a relay name) is not observed. No failure here ends the daemon.
/// Ownership: owns thread, loop and everything on it; the destructor stops and joins the thread.
/// Threading: created and destroyed by one thread.
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
  std::string notes_directory;  // intent logs and name claims
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
