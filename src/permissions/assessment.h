/// What could go wrong, for a person who has to decide.
///
/// Why a guess is enough: nothing is approved because of it. It takes the loose reading (parsed.h), so a word that only
///   looks dangerous counts as dangerous.
#pragma once

#include <string>

#include "permissions/parsed_request.h"

namespace relay::permissions {

struct Assessment {
  RiskLevel risk = RiskLevel::Medium;
  std::string reason = {};  // in words; empty: nothing in particular
};

Assessment assess(const ParsedRequest& parsed);

}  // namespace relay::permissions
