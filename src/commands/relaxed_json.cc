#include "commands/relaxed_json.h"

#include "commands/line_shape.h"

namespace relay::commands {
namespace {

std::string repair(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (!in_string) {
      in_string = c == '"';
      out += c;
    } else if (c == '\\' && at + 1 < text.size()) {
      const char next = text[at + 1];
      if (next == '\n') continue;  // the line end is escaped in the next step
      if (std::string_view{"\"\\/bfnrtu"}.find(next) != std::string_view::npos) out += c;
      out += next;
      ++at;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      continue;
    } else {
      in_string = c != '"';
      out += c;
    }
  }
  return out;
}

}  // namespace

Result<json::object> parse_relaxed_object(std::string_view text) {
  text = trimmed(text);
  if (auto strict = parse_json_object(text)) return strict;
  return parse_json_object(repair(text));
}

}  // namespace relay::commands
