#include "api/docs_page.h"

#include "api/route.h"
#include "base/format.h"

namespace relay::api {
namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Agent Relay</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
h2{margin-top:2.5rem;border-bottom:1px solid #ccc}
h3{margin:1.5rem 0 .2rem}
code{font:14px/1.4 ui-monospace,monospace;background:#f3f3f3;padding:.1em .3em;border-radius:3px}
.m{display:inline-block;min-width:4.5em;font-weight:600}
table{border-collapse:collapse}td{padding:.1rem 1rem .1rem 0;vertical-align:top}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#1b1b1b}code{background:#2b2b2b}}
</style></head><body>
)";

std::string escaped(std::string_view text) {
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

std::string section(const Route& route) {
  auto text = format("<h3><span class=\"m\">{}</span> <code>{}</code></h3>\n<p>{}. {}</p>\n", name_of(route.method),
                     escaped(route.path), escaped(route.summary), escaped(route.details));
  std::string rows;
  for (const auto& parameter : route.parameters)
    rows += format("<tr><td><code>{}</code></td><td>{}</td></tr>\n", escaped(parameter.name), escaped(parameter.about));
  if (!rows.empty()) text += "<table>\n" + rows + "</table>\n";
  return text;
}

}  // namespace

std::string docs_page(std::string_view version) {
  std::string page{kHead};
  page += format(
      "<h1>Agent Relay {}</h1>\n<p>Bodies, answers and errors in full: <a "
      "href=\"/openapi.json\"><code>/openapi.json</code></a>. Errors are "
      "<code>{{\"error\":{{\"code\",\"message\"}}}}</code>. Routes that mean a workspace take "
      "<code>?workspace=ID</code> when several are open.</p>\n",
      escaped(version));
  std::string_view tag;
  for (const auto& route : route_table()) {
    if (route.tag != tag) page += format("<h2>{}</h2>\n", escaped(route.tag));
    tag = route.tag;
    page += section(route);
  }
  return page + "</body></html>\n";
}

}  // namespace relay::api
