/// Damage to the files of a store, found at its opening or at run time. It is reported in the log, by STATUS and as an
/// event.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace relay::store {

struct Damage {
  std::vector<std::string> findings;  // each names the file, what is wrong, and where the file is now
  std::uint64_t lost_messages = 0;    // upper bound of lost acknowledged messages, unless more_lost
  bool more_lost = false;             // newer messages may be lost too; their number is unknown
  bool counted = true;                // false: the next opening counts the losses
  std::uint64_t refused = 0;          // all changes that the database refuses; each opening retries them
  std::vector<std::string> files;     // new paths of the quarantined files

  [[nodiscard]] bool found() const { return !findings.empty(); }
  /// Merges another report; a finding that exists already is not repeated.
  void add(Damage other);
  /// The findings without the losses.
  [[nodiscard]] std::string joined_findings() const;
  /// Findings and losses as one message; empty when nothing was found.
  [[nodiscard]] std::string message() const;
};

/// Damage found at run time. The error names the file and the next step for the user.
Damage damage_at_runtime(const Error& error);

}  // namespace relay::store
