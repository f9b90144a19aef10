#include "adapters/gemini_chats.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/format.h"
#include "base/json.h"
#include "base/unique_fd.h"
#include "text/iso_time.h"
#include "transcripts/white_space.h"

namespace relay::adapters {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kIdPrefixLength = 8;    // of the session's id in the file's name
constexpr int kMaxFiles = 10'000;             // searched
constexpr std::size_t kEndBytes = 512 << 10;  // of a file: it has the recent prompts
constexpr std::size_t kChatHeadBytes = 16 << 10;
constexpr WallMs kSlack = 2'000;  // between a prompt in logs.json and in the transcript

/// A regular file, without following links.
class PlainFile {
 public:
  explicit PlainFile(const std::string& path)
      : file_{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)} {
    if (file_ && (::fstat(file_.get(), &status_) != 0 || !S_ISREG(status_.st_mode))) file_.reset();
  }
  explicit operator bool() const { return static_cast<bool>(file_); }
  [[nodiscard]] std::uint64_t size() const { return static_cast<std::uint64_t>(status_.st_size); }
  [[nodiscard]] WallMs written_at() const {
    return status_.st_mtim.tv_sec * 1000 + status_.st_mtim.tv_nsec / 1'000'000;
  }
  [[nodiscard]] std::string read(std::uint64_t from, std::size_t count) const {
    std::string bytes(count, '\0');
    const auto got = ::pread(file_.get(), bytes.data(), count, static_cast<off_t>(from));
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return bytes;
  }
  [[nodiscard]] std::string read_end() const {
    return read(size() - std::min<std::uint64_t>(size(), kEndBytes), kEndBytes);
  }

 private:
  UniqueFd file_;
  struct stat status_ = {};
};

std::string text_of(const json::value* content) {
  if (content == nullptr) return {};
  if (content->is_string()) return std::string{content->get_string()};
  std::string all;
  if (content->is_array())
    for (const auto& part : content->get_array())
      if (part.is_object()) all += string_member(part.get_object(), "text").value_or("");
  return all;
}

WallMs time_of(const json::object& object) {
  return text::parse_iso_time(string_member(object, "timestamp").value_or("")).value_or(0);
}

/// The session of a conversation with the user; none for a subagent's or a file that is not a transcript.
std::optional<std::string> session_of(const PlainFile& file) {
  const auto head = file.read(0, kChatHeadBytes);
  const auto first = parse_json_object(std::string_view{head}.substr(0, head.find('\n')));
  if (!first || string_member(*first, "kind").value_or("main") != "main") return std::nullopt;
  return string_member(*first, "sessionId");
}

using PromptList = std::vector<GeminiPrompt>;  // without white space

bool contains_prompt(const PlainFile& file, const PromptList& wanted) {
  const auto bytes = file.read_end();
  std::string_view left = bytes;
  if (bytes.size() < file.size()) left.remove_prefix(std::min(left.size(), left.find('\n')));
  while (!left.empty()) {
    const auto line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    if (!line.contains(R"("user")")) continue;
    const auto message = parse_json_object(line);
    if (!message || string_member(*message, "type") != "user") continue;
    const auto text = transcripts::without_white_space(text_of(message->if_contains("content")));
    const auto at = time_of(*message);
    // Files that a prompt names, and context added by hooks, follow it in the text.
    for (const auto& each : wanted)
      if (at >= each.at - kSlack && text.starts_with(each.text)) return true;
  }
  return false;
}

}  // namespace

GeminiPrompts read_gemini_prompts(const std::string& logs_file, std::string_view session, WallMs since,
                                  WallMs others_since) {
  GeminiPrompts prompts;
  const PlainFile file{logs_file};
  if (!file) return prompts;
  auto text = file.read_end();
  if (text.size() < file.size()) {  // an array of objects, indented by two; no text holds a line end
    const auto start = text.find("\n  {");
    text = start == std::string::npos ? std::string{} : "[" + text.substr(start);
  }
  const auto all = parse_json(text);
  if (!all || !all->is_array()) return prompts;
  prompts.readable = true;
  for (const auto& each : all->get_array()) {
    if (!each.is_object()) continue;
    const auto& entry = each.get_object();
    const auto owner = string_member(entry, "sessionId").value_or("");
    const auto at = time_of(entry);
    if (owner != session) {
      if (at >= others_since) prompts.others.insert(owner);
    } else if (auto message = string_member(entry, "message").value_or(""); at >= since && !message.empty()) {
      prompts.own.push_back({std::move(message), at});
    }
  }
  return prompts;
}

bool has_model_prompt(const GeminiPrompts& prompts) {
  return std::ranges::any_of(prompts.own, [](const GeminiPrompt& each) { return !each.text.starts_with('/'); });
}

GeminiChat find_gemini_chat(const std::string& chats, const GeminiPrompts& prompts) {
  GeminiChat found;
  PromptList wanted;
  for (const auto& each : prompts.own)
    if (auto text = transcripts::without_white_space(each.text); !text.empty() && !text.starts_with('/'))
      wanted.push_back({text, each.at});
  if (wanted.empty()) return found;
  const auto since = std::ranges::min(wanted, {}, &GeminiPrompt::at).at - kSlack;
  int searched = 0;
  std::error_code none;
  for (const auto& each : fs::directory_iterator{chats, none}) {
    if (++searched > kMaxFiles) break;
    const auto path = each.path().string();
    const PlainFile file{path};
    if (!path.ends_with(".jsonl") || !file || file.written_at() < since) continue;
    auto session = session_of(file);
    if (!session || prompts.others.contains(*session) || !contains_prompt(file, wanted)) continue;
    if (++found.matches > 1) return {.matches = found.matches};
    found.path = path;
    found.session = *std::move(session);
  }
  return found;
}

std::string find_gemini_chat_of(const std::string& tmp, std::string_view session) {
  const auto ending = format("-{}.jsonl", session.substr(0, kIdPrefixLength));
  std::string found;
  int searched = 0;
  std::error_code none;
  for (const auto& project : fs::directory_iterator{tmp, none})
    for (const auto& file : fs::directory_iterator{project.path() / "chats", none}) {
      if (++searched > kMaxFiles) return found;
      auto path = file.path().string();
      // The time is in the name: newer ones sort later.
      if (path.ends_with(ending) && path > found) found = std::move(path);
    }
  return found;
}

}  // namespace relay::adapters
