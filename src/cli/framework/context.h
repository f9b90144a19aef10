/// The environment of a command: variables, home, project and terminal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/framework/output.h"
#include "cli/render/text.h"
#include "config/environment.h"
#include "config/paths.h"
#include "config/settings.h"

namespace relay::cli {

struct Context {
  config::Environment environment;
  config::Home home;
  config::Project project;
  bool to_terminal = false;  // stdout is a terminal
  Styler paint{false};
  std::size_t columns = 80;
  bool may_start = true;  // may start the daemon
  bool unicode = true;    // drawings may use characters beyond ASCII

  /// The width of the terminal; 0 without one: no limit.
  [[nodiscard]] std::size_t width() const { return to_terminal ? columns : 0; }
  /// The terminal has no room for a table of several columns.
  [[nodiscard]] bool is_narrow() const { return to_terminal && columns < kTableColumns; }
  static constexpr std::size_t kTableColumns = 60;
  [[nodiscard]] WallMs now() const { return SystemClock{}.now().wall; }
  /// The name of the user: $AGENT_RELAY_NAME, else $USER, else "human".
  [[nodiscard]] std::string own_name() const;
};

Result<Context> make_context();

}  // namespace relay::cli
