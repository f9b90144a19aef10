/// Processor time of this process. Other load on the machine does not count.
#pragma once

#include <ctime>

namespace relay::bench {

template <class Work>
double processor_seconds(Work work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

}  // namespace relay::bench
