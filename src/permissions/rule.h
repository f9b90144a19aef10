/// One rule: which requests it covers, and its action.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "permissions/parsed_request.h"
#include "permissions/pattern.h"
#include "permissions/permission_request.h"

namespace relay::permissions {

/// A rule as written. An empty member does not restrict it.
struct RuleSpec {
  std::string label = {};  // for the user: `config.toml:12`
  std::vector<std::string> tools = {};
  std::vector<std::string> commands = {};  // regular expressions
  std::vector<std::string> paths = {};     // globs, see path_matching.h
  std::vector<std::string> agents = {};
  Action action = Action::Ask;
  std::optional<RiskLevel> risk = {};  // absent: assessed
  std::optional<std::chrono::seconds> timeout = {};
};

/// Invariants: a rule that approves covers a command only if it is one simple command that a pattern of the rule
///   matches as a whole, a read only if its file is reported, and never a change to an autorun path (is_autorun_path).
class Rule {
 public:
  static Result<Rule> compile(RuleSpec spec);

  [[nodiscard]] const RuleSpec& spec() const { return spec_; }
  [[nodiscard]] bool covers(const ParsedRequest& parsed) const;
  [[nodiscard]] bool is_about(std::string_view agent) const;

 private:
  [[nodiscard]] bool covers_strictly(const ParsedRequest& parsed) const;
  [[nodiscard]] bool covers_loosely(const ParsedRequest& parsed) const;

  RuleSpec spec_;
  Pattern tools_;
  Pattern commands_;
  Pattern paths_;
  Pattern agents_;
};

}  // namespace relay::permissions
