/// Finds dialogs of an agent about itself: folder trust, login, theme, updates, before its first composer or in its
///   place.
///
/// The profile describes each exactly (`[[setup]]`), because its choices have no common form: a list without numbers, a
/// single key. A dialog counts only while it is the lowest thing on the screen; one above other rows is closed.
/// Invariants: a finding is complete only if its first row, its choices with one mark (or its keys) and its last row are
///   visible.
/// Threading: constant after construction.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "profiles/profile.h"
#include "profiles/regex.h"
#include "profiles/screen_findings.h"
#include "profiles/screen_frame.h"

namespace relay::profiles {

class SetupDialogs {
 public:
  static Result<SetupDialogs> compile(const std::vector<SetupRule>& rules);

  /// The lowest one in these rows; the finding's `pattern` is its name. At most one of permission and question is set.
  [[nodiscard]] std::optional<profiles::ScreenFindings> find(std::span<const ScreenRow> rows) const;

 private:
  struct Compiled {
    SetupRule rule;
    Regex first, choice, mark, below, approve, deny;
  };
  /// The choices: rows [first, end) belong to them, or to the rows below if keys are the choices.
  struct Offer {
    std::vector<profiles::DialogChoice> choices = {};
    std::size_t first = 0, end = 0;
    bool is_complete = false;
  };
  static std::optional<Offer> offer_of(const Compiled& dialog, std::span<const ScreenRow> rows, std::size_t from);
  static profiles::DialogChoice choice_of(const Compiled& dialog, std::string label);
  static std::optional<profiles::ScreenFindings> find(const Compiled& dialog, std::span<const ScreenRow> rows,
                                                      std::size_t top);

  std::vector<Compiled> dialogs_;
};

}  // namespace relay::profiles
