/// Completion for the three shells, made from the table.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace relay::cli {

/// The script for `bash`, `zsh` or `fish`; empty for any other word.
std::optional<std::string> completion_script(std::string_view shell);

}  // namespace relay::cli
