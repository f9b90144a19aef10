/// What was found damaged while a store was opened: told to the user, in the log and as an event.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace relay::store {

struct Damage {
  std::vector<std::string> findings;  // a sentence each: which file, what is wrong, where it is kept
  std::uint64_t lost_messages = 0;    // acknowledged and gone: at most so many
  std::vector<std::string> kept;      // the damaged files, under their new names

  [[nodiscard]] bool found() const { return !findings.empty(); }
  void add(Damage other);
  /// All of it as one sentence; empty when nothing was found.
  [[nodiscard]] std::string sentence() const;
};

}  // namespace relay::store
