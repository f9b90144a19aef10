#include "arguments.h"

#include <cstdlib>

namespace relay::crash {

std::optional<Arguments> Arguments::parse(int argc, char** argv, const std::set<std::string>& flags) {
  Arguments all;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--")) return std::nullopt;
    if (flags.contains(word))
      all.values_[word] = "yes";
    else if (i + 1 < argc)
      all.values_[word] = argv[++i];
    else
      return std::nullopt;
  }
  return all;
}

std::string Arguments::value(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string{} : found->second;
}

std::uint64_t Arguments::number(const std::string& name, std::uint64_t default_value) const {
  const auto found = values_.find(name);
  return found == values_.end() ? default_value : std::strtoull(found->second.c_str(), nullptr, 10);
}

}  // namespace relay::crash
