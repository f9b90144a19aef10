#include "cli/framework/completion.h"

#include "cli/framework/completion_facts.h"

namespace relay::cli {

std::optional<std::string> completion_script(std::string_view shell) {
  if (shell == "bash") return bash_completion();
  if (shell == "zsh") return zsh_completion();
  if (shell == "fish") return fish_completion();
  return std::nullopt;
}

}  // namespace relay::cli
