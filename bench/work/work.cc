#include "work/work.h"

namespace relay::bench {

std::vector<Work> all_work() { return {sequential_work(), windowed_work()}; }

}  // namespace relay::bench
