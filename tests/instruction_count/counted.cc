#include "counted.h"

namespace relay::cost {

std::uint64_t counted(Workload& work) {
  const auto units = work();
  return units;
}

}  // namespace relay::cost
