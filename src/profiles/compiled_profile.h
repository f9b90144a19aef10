/// A profile with compiled patterns; analyzes a screen: the conversation, the composer, and marks of work and dialogs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "commands/unwrap.h"
#include "profiles/composer.h"
#include "profiles/profile.h"
#include "profiles/screen_findings.h"
#include "profiles/screen_frame.h"

namespace relay::profiles {

/// Consecutive rows of one kind: about a paragraph.
struct Paragraph {
  RowKind kind = RowKind::Assistant;
  std::string key = {};  // its text without blanks: the same for any wrapping
  std::vector<commands::ScreenLine> lines = {};
};

struct ScreenAnalysis {
  std::optional<Composer> composer = {};
  std::vector<Paragraph> conversation = {};  // Assistant, User and Tool, from the top
  bool working_mark = false;                 // a row that is visible only while it works, or while a tool runs
  bool dialog_mark = false;
  bool start_page = false;           // a composer, and no conversation yet
  bool dialog_mark_in_text = false;  // that mark is only in the agent's text, and no composer is drawn
  profiles::ScreenFindings findings = {};
};

/// A profile with compiled patterns.
class CompiledProfile {
 public:
  static Result<CompiledProfile> open(Profile profile);
  CompiledProfile(CompiledProfile&&) noexcept;
  CompiledProfile& operator=(CompiledProfile&&) noexcept;
  ~CompiledProfile();

  [[nodiscard]] const Profile& profile() const;
  [[nodiscard]] ScreenAnalysis analyze(const ScreenFrame& frame) const;
  /// True if the profile describes a composer.
  [[nodiscard]] bool has_composer() const;
  /// True if a row shows that the program accepts prompts, and for a profile without such rows.
  [[nodiscard]] bool is_ready(const ScreenFrame& frame) const;
  /// The state in the title; Nothing for an unknown title.
  enum class TitleState : std::uint8_t { Nothing, Idle, Working, Blocked };
  [[nodiscard]] TitleState title_state(const std::string& title) const;

 private:
  struct Parts;
  explicit CompiledProfile(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace relay::profiles
