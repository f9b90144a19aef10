#include "host/delivery/message_files.h"

#include <algorithm>
#include <cctype>

#include "base/directory.h"
#include "base/format.h"
#include "base/hash.h"
#include "text/invisible.h"

namespace relay::host {
namespace {

constexpr std::string_view kSuffix = ".message.md";

/// A sender may choose any id.
std::string file_name(std::string_view id) {
  const bool plain = !id.empty() && id.size() <= 64 &&
                     std::ranges::all_of(id, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
  return format("{}{}", plain ? std::string{id} : sha256_hex(id).substr(0, 16), kSuffix);
}

}  // namespace

Result<std::string> MessageFiles::write(std::string_view id, std::string_view text) {
  const auto directory = RELAY_TRY(DiskDirectory::open_inside(root_, names_));
  const auto name = file_name(id);
  {
    const auto file = RELAY_TRY(directory->create(name + ".new"));
    RELAY_TRY(file->append(text::show_invisible(text)));
  }
  RELAY_TRY(directory->replace(name, name + ".new"));
  auto messages = directory->files();
  std::erase_if(messages, [](const std::string& each) { return !each.ends_with(kSuffix); });
  for (std::size_t old = kMaxLongTexts; old < messages.size(); ++old)
    (void)directory->remove(messages[old - kMaxLongTexts]);
  return format("{}/{}", directory->path(), name);
}

void remove_long_texts_before(DiskDirectory& directory, WallMs time) {
  for (const auto& name : directory.files_before(time))
    if (name.ends_with(kSuffix)) (void)directory.remove(name);
}

}  // namespace relay::host
