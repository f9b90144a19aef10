/// What every exec of ours needs; a fork also needs base/scoped_signal_block.h: no handler of ours may run in the child before
/// its exec, where it would speak into pipes we share.
#pragma once

#include <string>
#include <vector>

namespace relay::pty {

/// Words as exec wants them; made before the fork, good while the words are.
inline std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> list;
  for (const auto& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

}  // namespace relay::pty
