#include "commands/prefix_table.h"

#include <algorithm>

#include "commands/line_shape.h"

namespace relay::commands {
namespace {

constexpr std::size_t kMaxFileIdBytes = 128;

bool is_id_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.';
}

/// The name of a file, never a path: letters, digits, `_`, `-`, and dots inside.
std::string_view file_id(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_id_byte(text[end])) ++end;
  auto id = text.substr(0, end);
  while (id.ends_with('.')) id.remove_suffix(1);  // the end of a sentence
  return id.starts_with('.') || id.size() > kMaxFileIdBytes ? std::string_view{} : id;
}

/// Is the byte at `at` between backticks of this line?
class CodeSpans {
 public:
  explicit CodeSpans(std::string_view line) : line_{line} {}
  bool covers(std::size_t at) {  // `at` must not decrease
    while (seen_ < at) inside_ ^= line_[seen_++] == '`';
    return inside_;
  }

 private:
  std::string_view line_;
  std::size_t seen_ = 0;
  bool inside_ = false;
};

}  // namespace

PrefixTable::PrefixTable(const GrammarOptions& options) {
  const auto add = [this](std::string text, Opener opener) {
    if (!text.empty()) prefixes_.push_back({std::move(text), opener});
  };
  if (options.inline_form)
    for (const auto& [relay, thinking] : options.prefixes) {
      add(relay, Opener::Message);
      add(thinking, Opener::Thinking);
      if (relay_prefix_.empty()) relay_prefix_ = relay;
      if (relay.size() < 2 || !relay.ends_with(':')) continue;
      const auto base = relay.substr(0, relay.size() - 1);
      add(base + ".json:", Opener::Json);
      file_prefixes_.push_back(base + std::string{kFilePrefixEnd});
    }
  if (options.block_form) {
    add("[[RELAY]]", Opener::Block);
    add("[[RELAY_METADATA]]", Opener::Metadata);
    add("[[SUMMARY]]", Opener::Summary);
    add("[[SESSION_END]]", Opener::SessionEnd);
  }
  std::ranges::sort(prefixes_, std::greater{}, [](const Prefix& prefix) { return prefix.text.size(); });

  for (std::size_t byte = 0; byte < first_bytes_.size(); ++byte)
    first_bytes_[byte] = may_start_lead_in(static_cast<unsigned char>(byte));
  for (const auto& prefix : prefixes_) first_bytes_[static_cast<unsigned char>(prefix.text[0])] = true;
  for (const char c : {'`', '~', '<', '\x1b', '[', '\r'}) first_bytes_[static_cast<unsigned char>(c)] = true;
}

std::optional<Opening> PrefixTable::opening(std::string_view line) const {
  auto lead = start_lead_in(line);
  do {
    const auto rest = line.substr(lead.end);
    for (const auto& prefix : prefixes_)
      if (rest.starts_with(prefix.text))
        return Opening{prefix.opener, prefix.text, lead, rest.substr(prefix.text.size())};
  } while (take_lead_in_mark(line, lead));
  return std::nullopt;
}

std::vector<std::pair<std::size_t, std::string>> PrefixTable::find_file_triggers(std::string_view line) const {
  std::vector<std::pair<std::size_t, std::string>> found;
  CodeSpans code{line};
  for (auto at = line.find(kFilePrefixEnd); at != std::string_view::npos; at = line.find(kFilePrefixEnd, at + 1)) {
    const auto end = at + kFilePrefixEnd.size();
    for (const auto& prefix : file_prefixes_) {
      if (!line.substr(0, end).ends_with(prefix)) continue;
      const auto start = end - prefix.size();
      const bool escaped = start > 0 && line[start - 1] == '\\';
      const auto id = file_id(line.substr(end));
      if (!escaped && !id.empty() && !code.covers(start)) found.emplace_back(start, id);
      break;
    }
  }
  return found;
}

bool PrefixTable::has_escaped_prefix(std::string_view text) const {
  for (auto at = text.find('\\'); at != std::string_view::npos; at = text.find('\\', at + 1))
    for (const auto& prefix : prefixes_)
      if (text.substr(at + 1).starts_with(prefix.text)) return true;
  return false;
}

std::string PrefixTable::unescaped(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto starts_here = [&](const Prefix& prefix) { return text.substr(at + 1).starts_with(prefix.text); };
    if (text[at] != '\\' || std::ranges::none_of(prefixes_, starts_here)) out += text[at];
  }
  return out;
}

}  // namespace relay::commands
