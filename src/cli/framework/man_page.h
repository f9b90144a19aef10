/// agent-relay(1), made from the command table. `make install` installs it under share/man.
#pragma once

#include <string>

namespace relay::cli {

std::string man_page();

}  // namespace relay::cli
