#include "hooks/settings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/parse.hpp>

#include "base/beneath.h"
#include "base/format.h"
#include "base/unique_fd.h"

namespace relay::hooks {
namespace {

constexpr std::size_t kMaxDepth = 64;

Result<std::string> read_text(const UniqueFd& file, const std::string& path) {
  std::string text;
  char buffer[16 * 1024];
  while (true) {
    const auto count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(format("cannot read {}", path));
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > kMaxSettingsBytes) return fail(format("{} is larger than {} bytes", path, kMaxSettingsBytes));
  }
}

}  // namespace

Result<std::optional<std::string>> read_settings_file(const std::string& path) {
  // O_NONBLOCK: opening a pipe of that name must not block.
  const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!file) {
    if (errno == ENOENT) return std::nullopt;
    return fail_errno(format("cannot read {}", path));
  }
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return fail_errno(format("cannot read {}", path));
  if (!S_ISREG(status.st_mode)) return fail(format("{} is not an ordinary file", path));
  return RELAY_TRY(read_text(file, path));
}

Result<std::optional<std::string>> read_project_settings(const std::string& project, const std::string& file) {
  const auto path = format("{}/{}", project, file);
  const UniqueFd root{::open(project.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!root) {
    if (errno == ENOENT) return std::nullopt;
    return fail_errno(format("cannot read {}", path));
  }
  const auto opened = open_file_beneath({root.get(), file, path}, O_RDONLY);
  if (!opened && is(opened.error(), BeneathErrc::Absent)) return std::nullopt;
  if (!opened) return Failure{opened.error()};
  return RELAY_TRY(read_text(*opened, path));
}

Result<json::object> parse_settings(std::string_view text, Comments comments) {
  if (comments == Comments::Reject) return parse_json_object(text);
  json::parse_options options;
  options.max_depth = kMaxDepth;
  options.allow_comments = true;
  json::error_code code;
  auto value = json::parse(json::string_view{text.data(), text.size()}, code, {}, options);
  if (code) return fail(format("this is not valid JSON: {}", code.message()));
  if (!value.is_object()) return fail("expected a JSON object");
  return std::move(value.get_object());
}

Result<void> add_hooks(json::object& settings, const json::object& hooks) {
  auto& existing = settings["hooks"];
  if (existing.is_null()) existing = json::object{};
  if (!existing.is_object()) return fail("its \"hooks\" is not an object");
  for (const auto& member : hooks) {
    auto& groups = existing.get_object()[member.key()];
    if (groups.is_null()) groups = json::array{};
    if (!groups.is_array()) return fail(format("its hooks for {} are not an array", std::string_view{member.key()}));
    for (const auto& group : member.value().as_array()) groups.get_array().push_back(group);
  }
  return {};
}

Result<void> write_private_file(const std::string& path, std::string_view text) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail_errno(format("cannot replace {}", path));
  const UniqueFd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (!file) return fail_errno(format("cannot create {}", path));
  while (!text.empty()) {
    const auto count = ::write(file.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const auto failure = fail_errno(format("cannot write {}", path));
      ::unlink(path.c_str());
      return failure;
    }
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace relay::hooks
