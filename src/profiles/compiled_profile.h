/// Which rows of a screen are the conversation, whose words they are, and where the person types.
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

/// Rows of one kind without a gap: about a paragraph.
struct Paragraph {
  RowKind kind = RowKind::Assistant;
  std::string key = {};  // its text without blanks: the same however it is wrapped
  std::vector<commands::ScreenLine> lines = {};
};

struct ScreenAnalysis {
  std::optional<Composer> composer = {};
  std::vector<Paragraph> conversation = {};  // Say, User and Tool, from the top
  bool working_mark = false;                 // a row that stands there only while it works, or while a tool runs
  bool dialog_mark = false;
  bool start_page = false;       // a composer, and no conversation yet
  bool dialog_in_words = false;  // that mark stands in the agent's own words alone, and no composer is drawn
  profiles::ScreenFindings findings = {};
};

/// A profile ready to be used: its patterns compiled.
class CompiledProfile {
 public:
  static Result<CompiledProfile> open(Profile profile);
  CompiledProfile(CompiledProfile&&) noexcept;
  CompiledProfile& operator=(CompiledProfile&&) noexcept;
  ~CompiledProfile();

  [[nodiscard]] const Profile& profile() const;
  [[nodiscard]] ScreenAnalysis analyze(const ScreenFrame& sight) const;
  /// Its profile says how the place looks where a person types.
  [[nodiscard]] bool has_composer() const;
  /// Does a row show that the program takes prompts? True for a profile that names none.
  [[nodiscard]] bool is_ready(const ScreenFrame& sight) const;
  /// What the title says; empty when it says nothing.
  enum class TitleState : std::uint8_t { Nothing, Idle, Working, Blocked };
  [[nodiscard]] TitleState title_says(const std::string& title) const;

 private:
  struct Parts;
  explicit CompiledProfile(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace relay::profiles
