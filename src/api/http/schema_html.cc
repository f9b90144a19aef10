#include "api/http/schema_html.h"

#include <algorithm>

#include "base/format.h"

namespace relay::api {
namespace {

std::string string_of(const json::object& object, std::string_view name) {
  return string_member(object, name).value_or("");
}

/// "Agent" of "#/components/schemas/Agent".
std::string schema_name(std::string_view reference) { return std::string{reference.substr(reference.rfind('/') + 1)}; }

std::string choices_html(const json::array& choices) {
  std::string text;
  for (const auto& choice : choices)
    text += format("{}<code>{}</code>", text.empty() ? "" : ", ", escape_html(choice.as_string()));
  return text;
}

/// ", 1 to 128"
std::string bounds_in(const json::object& schema, std::string_view min_name, std::string_view max_name) {
  const auto min = integer_member(schema, min_name), max = integer_member(schema, max_name);
  if (min && max) return format(", {} to {}", *min, *max);
  if (max) return format(", at most {}", *max);
  if (min && *min > 0) return format(", at least {}", *min);
  return {};
}

std::string plain_type_html(const json::object& schema) {
  if (const auto* types = array_member(schema, "type")) {  // a type, or null
    auto one = schema;
    one["type"] = types->at(0);
    return plain_type_html(one) + ", or null";
  }
  const auto type = string_of(schema, "type");
  if (type == "string") return "string" + bounds_in(schema, "minLength", "maxLength");
  if (type == "integer") return "integer" + bounds_in(schema, "minimum", "maximum");
  if (type == "boolean") return "boolean";
  if (type == "array") return "list of " + type_html(schema.at("items").as_object());
  if (const auto* values = object_member(schema, "additionalProperties")) return "map to " + type_html(*values);
  return escape_html(type);
}

std::string rows_html(const json::object& schema) {
  std::string rows;
  const auto* required = array_member(schema, "required");
  const auto* members = object_member(schema, "properties");
  if (members == nullptr) return rows;
  for (const auto& [name, value] : *members) {
    const auto& member = value.as_object();
    const bool needed = required != nullptr && std::ranges::find(*required, json::value(name)) != required->end();
    rows += format("<tr><td><code>{}</code>{}</td><td>{}</td><td>{}</td></tr>\n", escape_html(name),
                   needed ? "" : " <small>optional</small>", type_html(member),
                   prose_html(string_of(member, "description")));
  }
  return rows;
}

std::string all_rows_html(const json::object& schema, const json::object& schemas) {
  if (const auto reference = string_member(schema, "$ref"))
    return all_rows_html(schemas.at(schema_name(*reference)).as_object(), schemas);
  auto rows = rows_html(schema);
  if (const auto* parts = array_member(schema, "allOf"))
    for (const auto& part : *parts) rows += all_rows_html(part.as_object(), schemas);
  return rows;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  for (const auto c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string prose_html(std::string_view text) {
  std::string out;
  bool code = false;
  for (auto end = text.find('`'); end != std::string_view::npos; end = text.find('`')) {
    out += escape_html(text.substr(0, end)) + (std::exchange(code, !code) ? "</code>" : "<code>");
    text.remove_prefix(end + 1);
  }
  return out + escape_html(text);
}

std::string type_html(const json::object& schema) {
  if (const auto reference = string_member(schema, "$ref")) {
    const auto name = escape_html(schema_name(*reference));
    return format("<a href=\"#{}\">{}</a>", name, name);
  }
  if (const auto* choices = array_member(schema, "enum")) return choices_html(*choices);
  if (const auto only = string_member(schema, "const")) return format("<code>{}</code>", escape_html(*only));
  for (const auto* keyword : {"oneOf", "allOf"}) {
    const auto* parts = array_member(schema, keyword);
    std::string text;
    for (std::size_t i = 0; parts != nullptr && i < parts->size(); ++i)
      text += (i == 0 ? "" : keyword[0] == 'o' ? ", " : " and ") + type_html((*parts)[i].as_object());
    if (parts != nullptr) return keyword[0] == 'o' ? "one of " + text : text;
  }
  return plain_type_html(schema);
}

std::string members_html(const json::object& schema, const json::object& schemas) {
  const auto rows = all_rows_html(schema, schemas);
  return rows.empty() ? rows : "<table>\n" + rows + "</table>\n";
}

}  // namespace relay::api
