#include "figures.h"

#include <sys/utsname.h>

#include <fstream>
#include <thread>

#include "base/format.h"

namespace relay::bench {

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
