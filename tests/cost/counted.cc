#include "counted.h"

namespace relay::cost {

std::uint64_t counted(Work& work) {
  const auto units = work();
  return units;
}

}  // namespace relay::cost
