#include "figures.h"

#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "base/format.h"

namespace relay::bench {

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

std::string machine() {
  std::string model = "unknown processor", line;
  std::ifstream info{"/proc/cpuinfo"};
  while (std::getline(info, line))
    if (line.starts_with("model name")) {
      model = line.substr(line.find(':') + 2);
      break;
    }
  utsname name{};
  ::uname(&name);
  return relay::format("{} x {}, {} {}", std::thread::hardware_concurrency(), model, name.sysname, name.release);
}

}  // namespace relay::bench
