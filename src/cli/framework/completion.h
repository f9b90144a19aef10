/// Completion scripts for three shells, made from the command table.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace relay::cli {

/// The script for `bash`, `zsh` or `fish`; none for another shell.
std::optional<std::string> completion_script(std::string_view shell);

}  // namespace relay::cli
