#include "subjects/cores.h"

#include <cstddef>

#include "base/format.h"

namespace relay::bench {
namespace {

struct Division {
  cpu_set_t all{};
  std::size_t driver = 0;
  cpu_set_t servers{};
};

std::optional<Division>& division() {
  static std::optional<Division> divided;
  return divided;
}

}  // namespace

void divide(Cores cores) {
  cpu_set_t all;
  if (cores == Cores::Free || ::sched_getaffinity(0, sizeof(all), &all) != 0 || CPU_COUNT(&all) < 2) return;
  Division divided{.all = all, .driver = CPU_SETSIZE - 1, .servers = all};
  while (!CPU_ISSET(divided.driver, &all)) --divided.driver;
  CPU_CLR(divided.driver, &divided.servers);
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(divided.driver, &own);
  if (cores == Cores::One) divided.servers = own;
  if (::sched_setaffinity(0, sizeof(own), &own) == 0) division() = divided;
}

void use_all_cores() {
  if (division()) ::sched_setaffinity(0, sizeof(cpu_set_t), &division()->all);
}

std::string describe_cores() {
  if (!division()) return "the scheduler places driver and servers";
  if (CPU_ISSET(division()->driver, &division()->servers)) return "driver and servers on one core";
  return relay::format("the driver on core {}, servers on {}", division()->driver,
                       CPU_COUNT(&division()->servers) == 1 ? "the other" : "the others");
}

OnServersCores::OnServersCores() {
  if (!division()) return;
  cpu_set_t before;
  if (::sched_getaffinity(0, sizeof(before), &before) != 0) return;
  if (::sched_setaffinity(0, sizeof(cpu_set_t), &division()->servers) == 0) before_ = before;
}

OnServersCores::~OnServersCores() {
  if (before_) ::sched_setaffinity(0, sizeof(cpu_set_t), &*before_);
}

}  // namespace relay::bench
