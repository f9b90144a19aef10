/// Keeps the broker's requests to hosts until the test takes them and reports their results.
#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "broker/effects.h"
#include "protocol/ended_session.h"

namespace relay::broker::testing {

class FakeHosts {
 public:
  using Request = std::variant<StartHost, StopHost, SendHostInput, ListHosts, AnswerPrompt, NotifyUser>;

  void add(Request request) { requests_.push_back(std::move(request)); }

  /// The requests of one type since the last call.
  template <class Wanted>
  std::vector<Wanted> take() {
    std::vector<Wanted> taken;
    for (auto& request : std::exchange(requests_, {})) {
      if (auto* wanted = std::get_if<Wanted>(&request))
        taken.push_back(std::move(*wanted));
      else
        requests_.push_back(std::move(request));
    }
    return taken;
  }
  void clear() { requests_.clear(); }

  /// Records of ended sessions that hosts left and the broker has not removed.
  std::vector<protocol::EndedSession>& ended_sessions() { return ended_sessions_; }
  void remove_ended_session(const SessionId& session) {
    std::erase_if(ended_sessions_, [&](const auto& ended) { return ended.session == session.value(); });
  }

 private:
  std::vector<Request> requests_;
  std::vector<protocol::EndedSession> ended_sessions_;
};

}  // namespace relay::broker::testing
