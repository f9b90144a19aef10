/// Parses the value of one setting and formats the error. Used for file, environment and flags.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "config/settings.h"

namespace relay::config {

using SettingValue = std::variant<std::string, std::int64_t, bool>;

/// The allowed values of a setting, for users: `a whole number from 0 to 65535`, `sqlite or memory`.
std::string allowed_values(const SettingRow& row);

/// `where` starts the error message: `AGENT_RELAY_DEBUG`, `--durability`.
Result<SettingValue> value_from_text(const SettingRow& row, std::string_view text, std::string_view where);

/// The value has the right type; is it in range, or one of the choices?
bool is_allowed(const SettingRow& row, const SettingValue& value);

Failure not_allowed(const SettingRow& row, std::string_view given, std::string_view where);

}  // namespace relay::config
