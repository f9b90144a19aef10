/// Damage to the files of a store, found when it is opened or while it runs: told to the user, in the log and as an event.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace relay::store {

struct Damage {
  std::vector<std::string> findings;  // a sentence each: which file, what is wrong, where it is kept
  std::uint64_t lost_messages = 0;    // acknowledged and gone: at most so many, unless more_lost
  bool more_lost = false;             // newer ones may be gone that nothing counts
  bool counted = true;                // false: the losses are counted when the store is opened next
  std::uint64_t refused = 0;          // changes that the database refuses in all: kept, tried again at each opening
  std::vector<std::string> kept;      // the damaged files, under their new names

  [[nodiscard]] bool found() const { return !findings.empty(); }
  /// A finding that is there already is not added again.
  void add(Damage other);
  /// Without what is lost.
  [[nodiscard]] std::string joined_findings() const;
  /// All of it as one sentence; empty when nothing was found.
  [[nodiscard]] std::string sentence() const;
};

/// Damage found while the store runs. The error says which file and the next step.
Damage damage_at_runtime(const Error& error);

}  // namespace relay::store
