#include "cli/framework/context.h"

#include <unistd.h>

#include <algorithm>

#include "protocol/names.h"

namespace relay::cli {
namespace {

/// True unless the locale is not UTF-8: today's terminals draw Unicode.
bool draws_unicode(const config::Environment& environment) {
  for (const auto* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    auto locale = environment(variable);
    if (!locale) continue;
    std::ranges::transform(*locale, locale->begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    return locale->find("utf-8") != std::string::npos || locale->find("utf8") != std::string::npos;
  }
  return true;
}

}  // namespace

std::string Context::own_name() const {
  if (auto name = environment("AGENT_RELAY_NAME"); name && !name->empty()) return *name;
  // A login name may be reserved, as `nobody` is.
  if (auto name = environment("USER"); name && !name->empty() && !protocol::is_reserved_name(*name)) return *name;
  return std::string{protocol::kUserName};
}

Result<Context> make_context() {
  Context context;
  context.environment = config::process_environment();
  context.home = RELAY_TRY(config::find_home(context.environment));
  context.project = RELAY_TRY(config::current_project(context.home, context.environment));
  context.to_terminal = ::isatty(STDOUT_FILENO) == 1;
  const auto term = context.environment("TERM");
  context.paint = Styler{context.to_terminal && !context.environment("NO_COLOR") && term != "dumb"};
  if (context.to_terminal) context.columns = terminal_columns(STDOUT_FILENO);
  context.unicode = draws_unicode(context.environment);
  if (!context.unicode) set_marks(kAsciiMarks);
  return context;
}

}  // namespace relay::cli
