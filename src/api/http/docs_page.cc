#include "api/http/docs_page.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "api/http/docs_assets.h"
#include "api/http/schema_html.h"
#include "base/base64.h"
#include "base/format.h"
#include "base/hash.h"

namespace relay::api {
namespace {

constexpr std::string_view kSocketHeaders =
    " -H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13'"
    " -H 'Sec-WebSocket-Key: d2hvIGlzIHRoZXJlIG5vdw=='";

/// An operation of the document with its method and path.
struct Operation {
  std::string method, path;
  const json::object& definition;
};

std::string string_of(const json::object& object, std::string_view name) {
  return string_member(object, name).value_or("");
}

std::vector<Operation> operations_in(const json::object& document) {
  std::vector<Operation> all;
  for (const auto& [path, methods] : document.at("paths").as_object())
    for (const auto& [method, operation] : methods.as_object())
      all.push_back({std::string{method}, std::string{path}, operation.as_object()});
  return all;
}

std::string tag_of(const Operation& operation) {
  return std::string{operation.definition.at("tags").at(0).as_string()};
}

/// In order of first appearance.
std::vector<std::string> tags_of(const std::vector<Operation>& operations) {
  std::vector<std::string> tags;
  for (const auto& operation : operations)
    if (std::ranges::find(tags, tag_of(operation)) == tags.end()) tags.push_back(tag_of(operation));
  return tags;
}

std::string to_upper(std::string text) {
  for (auto& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

const json::object* body_of(const Operation& operation) {
  const auto* body = object_member(operation.definition, "requestBody");
  return body == nullptr ? nullptr : &body->at("content").at("application/json").as_object();
}

/// The path with an example value for each parameter.
std::string example_path(const Operation& operation) {
  auto path = operation.path;
  if (const auto* parameters = array_member(operation.definition, "parameters"))
    for (const auto& each : *parameters) {
      const auto& parameter = each.as_object();
      const auto name = "{" + string_of(parameter, "name") + "}";
      if (const auto position = path.find(name); position != std::string::npos)
        path.replace(position, name.size(), string_of(parameter, "example"));
    }
  return path;
}

std::string curl_of(const Operation& operation, std::string_view server) {
  const auto& responses = operation.definition.at("responses").as_object();
  const auto* done = object_member(responses, "200");
  const auto* content = done != nullptr ? object_member(*done, "content") : nullptr;
  std::string line = "curl";
  if (responses.contains("101") || (content != nullptr && content->contains("text/event-stream"))) line += " -N";
  if (operation.method != "get") line += " -X " + to_upper(operation.method);
  line += format(" '{}{}'", server, example_path(operation));
  if (responses.contains("101")) line += kSocketHeaders;
  if (const auto* body = body_of(operation))
    line += format(" \\\n     -H 'Content-Type: application/json' -d '{}'", json::serialize(body->at("example")));
  return line;
}

std::string parameters_html(const Operation& operation) {
  const auto* parameters = array_member(operation.definition, "parameters");
  if (parameters == nullptr) return {};
  std::string rows;
  for (const auto& each : *parameters) {
    const auto& parameter = each.as_object();
    rows += format("<tr><td><code>{}</code> <small>{}</small></td><td>{}</td><td>{}</td></tr>\n",
                   escape_html(string_of(parameter, "name")), escape_html(string_of(parameter, "in")),
                   type_html(parameter.at("schema").as_object()), prose_html(string_of(parameter, "description")));
  }
  return "<h4>Parameters</h4>\n<table>\n" + rows + "</table>\n";
}

std::string body_html(const Operation& operation, const json::object& schemas) {
  const auto* body = body_of(operation);
  if (body == nullptr) return {};
  const auto& schema = body->at("schema").as_object();
  return format("<h4>Body: {}</h4>\n{}", type_html(schema), members_html(schema, schemas));
}

/// The success response in full, each other response as a line.
std::string answers_html(const Operation& operation, const json::object& document) {
  const auto& components = document.at("components").as_object();
  const auto& schemas = components.at("schemas").as_object();
  std::string first, rest;
  for (const auto& [status, value] : operation.definition.at("responses").as_object()) {
    const auto reference = string_member(value.as_object(), "$ref");
    if (reference) {
      const auto& named = components.at("responses").at(reference->substr(reference->rfind('/') + 1)).as_object();
      rest += format("<tr><td><code>{}</code></td><td>{}</td></tr>\n", std::string_view{status},
                     prose_html(string_of(named, "description")));
      continue;
    }
    first += format("<h4>Response: <code>{}</code>", std::string_view{status});
    const auto* content = object_member(value.as_object(), "content");
    if (content == nullptr) {
      first += format("</h4>\n<p>{}</p>\n", prose_html(string_of(value.as_object(), "description")));
      continue;
    }
    const auto& [kind, media] = *content->begin();
    const auto& schema = media.as_object().at("schema").as_object();
    first +=
        format(" {} <small>{}</small></h4>\n{}", type_html(schema), escape_html(kind), members_html(schema, schemas));
  }
  return first + "<h4>Errors: <a href=\"#Error\">Error</a></h4>\n<table>\n" + rest + "</table>\n";
}

std::string operation_html(const Operation& operation, const json::object& document, std::string_view server) {
  const auto id = escape_html(string_of(operation.definition, "operationId"));
  auto text = format(
      "<details id=\"{}\"><summary><a href=\"#{}\" title=\"link to this\">#</a><b class=\"{}\">{}</b> <code>{}</code> "
      "<span class=\"dim\">{}</span></summary>\n",
      id, id, operation.method, to_upper(operation.method), escape_html(operation.path),
      prose_html(string_of(operation.definition, "summary")));
  if (const auto more = string_of(operation.definition, "description"); !more.empty())
    text += format("<p>{}</p>\n", prose_html(more));
  text += format("<pre>{}</pre>\n", escape_html(curl_of(operation, server)));
  text += parameters_html(operation) + body_html(operation, document.at("components").at("schemas").as_object());
  return text + answers_html(operation, document) + "</details>\n";
}

std::string schema_html(std::string_view name, const json::object& schema, const json::object& schemas) {
  auto members = members_html(schema, schemas);
  if (members.empty()) members = format("<p>{}</p>\n", type_html(schema));
  return format(
      "<details id=\"{}\"><summary><a href=\"#{}\" title=\"link to this\">#</a><code>{}</code> "
      "<span class=\"dim\">{}</span></summary>\n{}</details>\n",
      name, name, name, prose_html(string_of(schema, "description")), members);
}

std::string head_html(const json::object& document) {
  const auto& info = document.at("info").as_object();
  return format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Agent Relay HTTP API</title>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<style>{}</style></head><body>\n<h1>{} <small>{}</small></h1>\n<p>{}</p>\n",
      kDocsStyle, escape_html(string_of(info, "title")), escape_html(string_of(info, "version")),
      prose_html(string_of(info, "description")));
}

}  // namespace

std::string docs_policy() {
  const auto digest = sha256(kDocsScript);
  const auto script = base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
  return format("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; frame-ancestors 'none'",
                script);
}

std::string docs_server(std::string_view host) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == ':' || c == '[' || c == ']';
  };
  return format("http://{}", !host.empty() && std::ranges::all_of(host, is_plain) ? host : "127.0.0.1:3888");
}

std::string docs_page(const json::object& document, std::string_view server) {
  auto page = head_html(document);
  page +=
      "<p>If the daemon has a token, add <code>-H \"Authorization: Bearer $AGENT_RELAY_API_TOKEN\"</code> to each "
      "command. "
      "OpenAPI 3.1 document: <a href=\"/openapi.json\"><code>/openapi.json</code></a>.</p>\n"
      "<input id=\"filter\" type=\"search\" placeholder=\"type to filter: post agents\" aria-label=\"filter\" "
      "hidden>\n";
  const auto operations = operations_in(document);
  for (const auto& tag : tags_of(operations)) {
    page += format("<section><h2>{}</h2>\n", escape_html(tag));
    for (const auto& operation : operations)
      if (tag_of(operation) == tag) page += operation_html(operation, document, server);
    page += "</section>\n";
  }
  page += "<section><h2>schemas</h2>\n";
  const auto& schemas = document.at("components").at("schemas").as_object();
  for (const auto& [name, schema] : schemas) page += schema_html(name, schema.as_object(), schemas);
  return page + format("</section>\n<script>{}</script>\n</body></html>\n", kDocsScript);
}

}  // namespace relay::api
