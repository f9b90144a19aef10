/// Numbers and the one table they are printed in.
#pragma once

#include <string>
#include <vector>

namespace relay::bench {

struct Figures {
  std::string title;
  std::vector<double> deliver_us = {};  // SEND written until DELIVER read
  std::vector<double> durable_us = {};  // until the ACK that says it is durable; empty where there is none
  std::vector<double> per_second = {};  // one per round of streaming
};

double quantile(std::vector<double> values, double share);
std::string machine();
/// The first row is the yardstick.
void print_table(const std::vector<Figures>& rows);

}  // namespace relay::bench
