#include "hooks/settings_text.h"

#include <algorithm>
#include <vector>

#include "base/format.h"
#include "hooks/hook_specs.h"
#include "hooks/json_layout.h"

namespace relay::hooks {
namespace {

struct Edit {
  std::size_t begin;
  std::size_t end;
  std::string text;
};

std::string applied(std::string_view text, std::vector<Edit> edits) {
  std::ranges::sort(edits, {}, &Edit::begin);
  std::string out;
  std::size_t at = 0;
  for (const auto& edit : edits) {
    out += text.substr(at, edit.begin - at);
    out += edit.text;
    at = edit.end;
  }
  return out += text.substr(at);
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

/// The formatting of the file.
struct Style {
  std::string line_end = "\n";
  std::string unit = "  ";
  bool lines = true;  // otherwise all on one line
  bool airy = true;   // on one line: with blanks after colons and commas
};

Style style_of(std::string_view text, const LayoutNode& root) {
  Style style;
  if (text.contains("\r\n")) style.line_end = "\r\n";
  if (root.children.empty()) return style;
  const auto lead = text.substr(root.begin + 1, root.children.front().begin - root.begin - 1);
  const auto line = lead.rfind('\n');
  style.lines = line != std::string_view::npos;
  style.airy = style.lines || text.contains("\": ");
  if (style.lines && line + 1 < lead.size()) style.unit = lead.substr(line + 1);
  return style;
}

bool is_plain(const json::value& value) { return !value.is_object() && !value.is_array(); }

class Writer {
 public:
  explicit Writer(Style style) : style_{std::move(style)} {}

  /// `indent` is that of the line in which the value starts; empty optional: all on one line.
  void value(const json::value& value, const std::string* indent, std::string& out) const {
    if (const auto* object = value.if_object()) {
      list(*object, '{', '}', indent, out, [&](const auto& member, const std::string* inner) {
        out += json::serialize(json::string{member.key()});
        out += style_.airy ? ": " : ":";
        this->value(member.value(), inner, out);
      });
    } else if (const auto* array = value.if_array()) {
      const bool short_one = std::ranges::all_of(*array, is_plain);
      list(*array, '[', ']', short_one ? nullptr : indent, out,
           [&](const auto& element, const std::string* inner) { this->value(element, inner, out); });
    } else {
      out += json::serialize(value);
    }
  }

  [[nodiscard]] const Style& style() const { return style_; }

 private:
  template <class List, class Each>
  void list(const List& items, char open, char close, const std::string* indent, std::string& out,
            const Each& each) const {
    out += open;
    const std::string inner = indent == nullptr ? "" : *indent + style_.unit;
    bool first = true;
    for (const auto& item : items) {
      if (!first) out += indent == nullptr && style_.airy ? ", " : ",";
      first = false;
      if (indent != nullptr) out += style_.line_end + inner;
      each(item, indent == nullptr ? nullptr : &inner);
    }
    if (indent != nullptr && !first) out += style_.line_end + *indent;
    out += close;
  }

  Style style_;
};

/// The blanks at the start of the line that contains `at`.
std::string indentation_at(std::string_view text, std::size_t at) {
  const auto line = text.rfind('\n', at);
  const auto start = line == std::string_view::npos || at == 0 ? 0 : line + 1;
  const auto end = std::min(text.find_first_not_of(" \t", start), text.size());
  return std::string{text.substr(start, end - start)};
}

/// Inserts items (with a key before each, if any) after the last child of a list.
class Appender {
 public:
  Appender(std::string_view text, const Writer& writer) : text_{text}, writer_{writer} {}

  struct Item {
    std::string_view key;  // empty: an array's
    const json::value* value;
  };

  Edit append(const LayoutNode& list, const std::vector<Item>& items) const {
    const auto& style = writer_.style();
    if (list.children.empty()) {
      const auto outer = indentation_at(text_, list.begin);
      const auto inner = outer + style.unit;
      std::string out(1, list.kind);
      if (style.lines) out += style.line_end + inner;
      out += joined(items, style.lines ? &inner : nullptr);
      if (style.lines) out += style.line_end + outer;
      out += list.kind == '{' ? '}' : ']';
      return {list.begin, list.end, std::move(out)};
    }
    const auto first = list.children.front().begin;
    const bool on_lines = text_.substr(list.begin, first - list.begin).contains('\n');
    const auto inner = indentation_at(text_, first);
    const auto end = list.children.back().value.end;
    const auto* indent = on_lines ? &inner : nullptr;
    return {end, end, separator(indent) + joined(items, indent)};
  }

 private:
  [[nodiscard]] std::string separator(const std::string* indent) const {
    if (indent != nullptr) return "," + writer_.style().line_end + *indent;
    return writer_.style().airy ? ", " : ",";
  }

  [[nodiscard]] std::string joined(const std::vector<Item>& items, const std::string* indent) const {
    std::string out;
    for (const auto& item : items) {
      if (&item != &items.front()) out += separator(indent);
      if (!item.key.empty()) {
        out += json::serialize(json::string{item.key});
        out += writer_.style().airy ? ": " : ":";
      }
      writer_.value(*item.value, indent, out);
    }
    return out;
  }

  std::string_view text_;
  const Writer& writer_;
};

/// Removes the marked children of a list, with their commas. Not for a list that loses all of them.
void cut(const LayoutNode& list, const std::vector<bool>& removed, std::vector<Edit>& edits) {
  bool has_remaining = false;
  for (std::size_t i = 0; i < removed.size(); ++i) {
    if (!removed[i]) {
      has_remaining = true;
    } else if (has_remaining) {
      edits.push_back({list.children[i - 1].value.end, list.children[i].value.end, ""});
    } else {
      edits.push_back({list.children[i].begin, list.children[i + 1].begin, ""});
    }
  }
}

/// Calls `should_remove` for every child; true if no child of a non-empty list is left.
template <class Predicate>
Result<bool> remove_if(const LayoutNode& list, std::vector<Edit>& edits, const Predicate& should_remove) {
  std::vector<bool> removed;
  for (const auto& child : list.children) removed.push_back(RELAY_TRY(should_remove(child)));
  if (!removed.empty() && std::ranges::all_of(removed, std::identity{})) return true;
  cut(list, removed, edits);
  return false;
}

}  // namespace

Result<std::string> with_hooks(std::string_view text, const json::object& hooks) {
  const json::value all = hooks;
  if (is_blank(text)) {
    const std::string none;
    std::string out;
    Writer{Style{}}.value(json::object{{"hooks", all}}, &none, out);
    return out + "\n";
  }
  const auto root = RELAY_TRY(read_layout(text));
  if (root.kind != '{') return fail("it is not a JSON object");
  const Writer writer{style_of(text, root)};
  const Appender appender{text, writer};
  const auto* member = root.member("hooks");
  if (member == nullptr) return applied(text, {appender.append(root, {{"hooks", &all}})});
  if (member->value.kind != '{') return fail("its \"hooks\" is not an object");
  std::vector<Edit> edits;
  std::vector<Appender::Item> added;
  for (const auto& event : hooks) {
    const std::string_view name = event.key();
    const auto* existing = member->value.member(name);
    if (existing == nullptr) {
      added.push_back({name, &event.value()});
      continue;
    }
    if (existing->value.kind != '[') return fail(format("its hooks for {} are not an array", name));
    std::vector<Appender::Item> groups;
    for (const auto& group : event.value().as_array()) groups.push_back({"", &group});
    edits.push_back(appender.append(existing->value, groups));
  }
  if (!added.empty()) edits.push_back(appender.append(member->value, added));
  return applied(text, std::move(edits));
}

Result<std::string> without_hooks(std::string_view text, AgentCli agent) {
  if (is_blank(text)) return std::string{text};
  const auto root = RELAY_TRY(read_layout(text));
  const auto* hooks = root.member("hooks");
  if (hooks == nullptr || hooks->value.kind != '{') return std::string{text};

  std::vector<Edit> edits;
  const auto handler_goes = [&](const LayoutMember& handler) -> Result<bool> {
    const auto& at = handler.value;
    return !program_of(agent, RELAY_TRY(parse_json(text.substr(at.begin, at.end - at.begin)))).empty();
  };
  const auto group_goes = [&](const LayoutMember& group) -> Result<bool> {
    const auto* handlers = group.value.member("hooks");
    if (handlers == nullptr || handlers->value.kind != '[') return false;
    return remove_if(handlers->value, edits, handler_goes);
  };
  const auto event_goes = [&](const LayoutMember& event) -> Result<bool> {
    if (event.value.kind != '[') return false;
    return remove_if(event.value, edits, group_goes);
  };
  if (!RELAY_TRY(remove_if(hooks->value, edits, event_goes))) return applied(text, std::move(edits));

  edits.clear();
  std::vector<bool> removed;
  for (const auto& member : root.children) removed.push_back(&member == hooks);
  if (root.children.size() == 1) return applied(text, {{root.begin, root.end, "{}"}});
  cut(root, removed, edits);
  return applied(text, std::move(edits));
}

}  // namespace relay::hooks
