/// The two things every fork and exec of ours needs.
#pragma once

#include <signal.h>

#include <string>
#include <vector>

namespace relay::pty {

/// Words as exec wants them; made before the fork, good while the words are.
inline std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> list;
  for (const auto& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

/// No handler of ours may run in the child between fork and exec: it would speak into pipes we share.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace relay::pty
