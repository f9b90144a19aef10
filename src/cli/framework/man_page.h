/// agent-relay(1), made from the table like all other help. `make install` puts it under share/man.
#pragma once

#include <string>

namespace relay::cli {

std::string man_page();

}  // namespace relay::cli
