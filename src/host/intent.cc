#include "host/intent.h"

namespace relay::host {
namespace {

constexpr std::size_t kMaxNoteBytes = 256;

}  // namespace

Result<std::string> Intent::left_behind() {
  auto text = RELAY_TRY(directory_.read(name_, kMaxNoteBytes)).value_or("");
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

Result<void> Intent::note(const std::string& delivery) { return write(delivery + "\n"); }
Result<void> Intent::clear() { return write(""); }

Result<void> Intent::write(const std::string& text) {
  const std::string fresh = name_ + ".new";
  {
    const auto file = RELAY_TRY(directory_.create(fresh));
    RELAY_TRY(file->append(text));
  }
  return directory_.replace(name_, fresh);
}

}  // namespace relay::host
