/// What every command is given: the world it runs in.
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
  bool to_terminal = false;  // stdout is one
  Styler paint{false};
  std::size_t columns = 80;
  bool may_start = true;  // the daemon, if it does not run
  bool unicode = true;    // whether drawings may use lines and dots beyond ASCII

  /// Of the terminal that stdout is; 0 when it is none, and nothing needs to fit.
  [[nodiscard]] std::size_t width() const { return to_terminal ? columns : 0; }
  /// Whether a table of several columns has no room.
  [[nodiscard]] bool is_narrow() const { return to_terminal && columns < kTableColumns; }
  static constexpr std::size_t kTableColumns = 60;
  [[nodiscard]] WallMs now() const { return SystemClock{}.now().wall; }
  /// Who the person at this shell is: $AGENT_RELAY_NAME, else $USER, else "human".
  [[nodiscard]] std::string own_name() const;
};

Result<Context> make_context();

}  // namespace relay::cli
