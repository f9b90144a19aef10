#include "host/intent.h"

#include <algorithm>
#include <sstream>

#include "protocol/limits.h"

namespace relay::host {

Result<void> Intent::load() {
  constexpr std::size_t kMaxBytes = kMaxNotes * (protocol::kMaxIdBytes + 1);
  std::istringstream lines{RELAY_TRY(directory_.read(name_, kMaxBytes)).value_or("")};
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) notes_.push_back(line);
  return {};
}

bool Intent::holds(const std::string& delivery) const { return std::ranges::find(notes_, delivery) != notes_.end(); }

Result<void> Intent::add(const std::string& delivery) {
  notes_.push_back(delivery);
  if (notes_.size() > kMaxNotes) notes_.pop_front();
  auto written = write();
  if (!written) notes_.pop_back();
  return written;
}

Result<void> Intent::write() {
  const std::string fresh = name_ + ".new";
  std::string text;
  for (const auto& note : notes_) text += note + "\n";
  {
    const auto file = RELAY_TRY(directory_.create(fresh));
    RELAY_TRY(file->append(text));
  }
  return directory_.replace(name_, fresh);
}

}  // namespace relay::host
