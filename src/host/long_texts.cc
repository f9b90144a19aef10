#include "host/long_texts.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <vector>

#include "base/directory.h"
#include "base/format.h"
#include "base/hash.h"

namespace relay::host {
namespace {

namespace fs = std::filesystem;

/// An id may be anything a foreign sender chose.
std::string file_name(std::string_view id) {
  const bool plain = !id.empty() && id.size() <= 64 &&
                     std::ranges::all_of(id, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
  return plain ? format("{}.md", id) : format("{}.md", sha256_hex(id).substr(0, 16));
}

}  // namespace

Result<std::string> LongTexts::keep(std::string_view id, std::string_view text) {
  std::error_code failed;
  fs::create_directories(directory_, failed);
  if (failed) return fail(format("cannot make {}: {}", directory_, failed.message()));
  fs::permissions(directory_, fs::perms::owner_all, failed);
  const auto directory = RELAY_TRY(DiskDirectory::open(directory_));
  const auto name = file_name(id);
  {
    const auto file = RELAY_TRY(directory->create(name + ".new"));
    RELAY_TRY(file->append(text));
  }
  RELAY_TRY(directory->replace(name, name + ".new"));
  forget_oldest();
  return format("{}/{}", shown_, name);
}

void LongTexts::forget_oldest() const {
  std::error_code none;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const auto& entry : fs::directory_iterator{directory_, none})
    files.emplace_back(entry.last_write_time(none), entry.path());
  if (files.size() <= kMaxLongTexts) return;
  std::ranges::sort(files);
  files.resize(files.size() - kMaxLongTexts);
  for (const auto& [time, path] : files) fs::remove(path, none);
}

}  // namespace relay::host
