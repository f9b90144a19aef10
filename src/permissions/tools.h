/// One canonical name for each tool of the agents.
#pragma once

#include <string>
#include <string_view>

namespace relay::permissions {

namespace tool {
inline constexpr std::string_view kBash = "bash";    // runs a command
inline constexpr std::string_view kRead = "read";    // one file
inline constexpr std::string_view kList = "list";    // the names in a directory
inline constexpr std::string_view kGlob = "glob";    // finds files by name
inline constexpr std::string_view kGrep = "grep";    // finds text in files
inline constexpr std::string_view kEdit = "edit";    // changes files
inline constexpr std::string_view kWrite = "write";  // creates or replaces a file
inline constexpr std::string_view kFetch = "fetch";  // reads an address
}  // namespace tool

/// `run_shell_command` → `bash`. An unknown tool stays the same, in lower case.
std::string canonical_tool(std::string_view name);

}  // namespace relay::permissions
