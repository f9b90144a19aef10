#include "damage_kinds.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/format.h"

namespace relay::damage {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kKinds = 8;

}  // namespace

Files read_files(const std::string& directory) {
  Files files;
  for (const auto& entry : fs::directory_iterator{directory}) {
    std::ifstream in{entry.path(), std::ios::binary};
    files[entry.path().filename().string()] = std::string{std::istreambuf_iterator<char>{in}, {}};
  }
  return files;
}

void write_files(const std::string& directory, const Files& files) {
  fs::remove_all(directory);
  fs::create_directories(directory);
  for (const auto& [name, bytes] : files) std::ofstream{fs::path{directory} / name, std::ios::binary} << bytes;
}

std::string damage_one(Files& files, const Files& old, Random& random) {
  auto chosen = files.begin();
  std::advance(chosen, static_cast<std::ptrdiff_t>(random.below(files.size())));
  const auto name = chosen->first;
  auto& bytes = chosen->second;
  const auto size = bytes.size();
  const auto kind = size == 0 ? 4 : random.below(kKinds);
  const auto at = size == 0 ? 0 : random.below(size);
  const auto length = size == 0 ? 0 : 1 + random.below(std::min<std::uint64_t>(size - at, 20'000));
  switch (kind) {
    case 0: bytes[at] ^= static_cast<char>(1 << random.below(8)); return format("flip {} at {}", name, at);
    case 1: bytes.resize(at); return format("cut {} at {} of {}", name, at, size);
    case 2: bytes.replace(at, length, std::string(length, '\0')); return format("zero {} at {}, {}", name, at, length);
    case 3: bytes.clear(); return format("empty {}", name);
    case 4: files.erase(chosen); return format("remove {}", name);
    case 5: {
      const auto before = old.find(name);
      if (before == old.end()) {
        files.erase(chosen);
        return format("remove {}, which is new", name);
      }
      bytes = before->second;
      return format("an old copy of {}", name);
    }
    case 6: {
      const auto from = random.below(size - length + 1);
      bytes.replace(at, length, bytes.substr(from, length));
      return format("copy {} bytes in {} from {} to {}", length, name, from, at);
    }
    default: bytes.insert(at, bytes.substr(at, length)); return format("insert {} bytes in {} at {}", length, name, at);
  }
}

}  // namespace relay::damage
