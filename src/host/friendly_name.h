/// A generated name for an agent: short, pronounceable, unused.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"

namespace relay::host {

std::string friendly_name(Random& random, const std::vector<std::string>& taken);

}  // namespace relay::host
