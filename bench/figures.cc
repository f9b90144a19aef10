#include "figures.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
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

void print_table(const std::vector<Figures>& rows) {
  std::printf("%-28s %10s %10s %8s %12s %10s %12s %8s\n", "", "deliver", "", "", "durable", "", "streaming", "");
  std::printf("%-28s %10s %10s %8s %12s %10s %12s %8s\n", "", "p50 us", "p99 us", "ratio", "p50 us", "p99 us", "msg/s",
              "ratio");
  const auto base_latency = quantile(rows.front().deliver_us, 0.5), base_rate = quantile(rows.front().per_second, 0.5);
  for (const auto& row : rows) {
    const auto p50 = quantile(row.deliver_us, 0.5), rate = quantile(row.per_second, 0.5);
    const auto durable =
        row.durable_us.empty() ? std::string{"-"} : relay::format("{:.1f}", quantile(row.durable_us, 0.5));
    const auto durable_p99 =
        row.durable_us.empty() ? std::string{"-"} : relay::format("{:.1f}", quantile(row.durable_us, 0.99));
    std::printf("%-28s %10.1f %10.1f %8.2f %12s %10s %12.0f %8.2f\n", row.title.c_str(), p50,
                quantile(row.deliver_us, 0.99), p50 / base_latency, durable.c_str(), durable_p99.c_str(), rate,
                rate / base_rate);
  }
}

}  // namespace relay::bench
