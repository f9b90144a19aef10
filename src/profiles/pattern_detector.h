/// Finds dialogs, questions, token counts and limits on a screen.
///
/// The rules are data from an agent's profile: names, roles and RE2 patterns with named groups. All patterns are
/// matched together (RE2::Set), then the groups of the few matches are read; time is linear in the text for any
/// pattern. Rows are matched without the frames that dialogs draw around them.
/// Threading: constant after construction; may be used from several threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::profiles {

enum class Role : std::uint8_t {
  PermissionHead,     // the row of the request; may capture `tool`, `command`, `labels`
  PermissionTool,     // near the head: `tool`
  PermissionCommand,  // near the head: `command`
  QuestionHead,       // captures `text`, or the text is the next row; may capture `labels`
  Choice,             // below a head: `number`, `label`, `key`, `mark`; or `labels` side by side
  Usage,              // `input`, `output`, `cached`, `total`, `cost`, `percent`, `model`
  Limit,              // `what`, `resets`
};

struct Pattern {
  std::string name;
  Role role;
  std::string regex;
};

struct Match {
  Role role;
  std::string_view pattern;  // its name; valid as long as the detector
  std::size_t row = 0;
  std::map<std::string, std::string, std::less<>> captures;
};

inline constexpr std::size_t kMaxPatterns = 512;
inline constexpr std::size_t kMaxRowBytes = 4096;  // longer rows are truncated to this

class PatternDetector {
 public:
  /// The error names the pattern that RE2 rejects.
  static Result<PatternDetector> compile(std::span<const Pattern> patterns);
  PatternDetector(PatternDetector&&) noexcept;
  PatternDetector& operator=(PatternDetector&&) noexcept;
  ~PatternDetector();

  /// In the order of the rows, then of the patterns.
  [[nodiscard]] std::vector<Match> matches(std::span<const std::string> rows) const;

 private:
  struct Compiled;
  explicit PatternDetector(std::unique_ptr<const Compiled> compiled);
  std::unique_ptr<const Compiled> compiled_;
};

/// A row without blanks and vertical frame lines at its ends.
std::string_view without_frame(std::string_view row);

}  // namespace relay::profiles
