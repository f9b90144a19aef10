/// Arguments for exec. A fork also needs base/scoped_signal_block.h: none of our handlers may run in the child before
/// its exec, where it would write to pipes shared with us.
#pragma once

#include <string>
#include <vector>

namespace relay::pty {

/// The pointers exec needs; created before the fork, valid as long as the strings.
inline std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> list;
  for (const auto& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

}  // namespace relay::pty
