/// The risk of a request, for the user who has to decide.
///
/// Why an estimate is enough: it never approves anything. It uses the loose reading (parsed_request.h), so a word
///   that only looks dangerous counts as dangerous.
#pragma once

#include <string>

#include "permissions/parsed_request.h"

namespace relay::permissions {

struct Assessment {
  RiskLevel risk = RiskLevel::Medium;
  std::string reason = {};  // one phrase; empty: no particular risk
};

Assessment assess(const ParsedRequest& parsed);

}  // namespace relay::permissions
