#include "net/listener_owner.h"

#include <cstdio>
#include <fstream>
#include <string>

namespace relay::net {

std::optional<uid_t> listener_owner(std::uint16_t port) {
  constexpr unsigned kListening = 0x0A, kLoopback = 0x0100007F;  // as in /proc: in the machine's byte order
  std::ifstream table{"/proc/net/tcp"};
  for (std::string line; std::getline(table, line);) {
    unsigned address = 0, local = 0, state = 0, uid = 0;
    if (std::sscanf(line.c_str(), " %*u: %8X:%4X %*8X:%*4X %2X %*X:%*X %*X:%*X %*X %u", &address, &local, &state,
                    &uid) != 4)
      continue;
    if (state == kListening && local == port && (address == 0 || address == kLoopback)) return uid;
  }
  return std::nullopt;
}

}  // namespace relay::net
