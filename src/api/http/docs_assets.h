/// Style sheet (light and dark) and script of the page of `GET /docs`.
#pragma once

#include <string_view>

namespace relay::api {

inline constexpr std::string_view kDocsStyle = R"(
:root{color-scheme:light dark;--ink:#1d2329;--dim:#5c6670;--paper:#fff;--box:#f5f7f9;--line:#d9dfe5;--link:#0b5cad;
--get:#0b6e4f;--post:#8a4b00;--delete:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#dfe5ea;--dim:#98a3ad;--paper:#15191d;--box:#1e242a;--line:#333c45;--link:#7ab8f5;
--get:#5fcf9f;--post:#e8a857;--delete:#ff8a80}}
body{font:16px/1.55 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color:var(--ink);background:var(--paper)}
h1{margin-bottom:.2rem}h2{margin:2.2rem 0 .6rem;font-size:1.25rem}h4{margin:1rem 0 .2rem;font-size:.95rem}
a{color:var(--link)}small,.dim{color:var(--dim)}
code,pre{font:.87em/1.5 ui-monospace,monospace}
pre{background:var(--box);border:1px solid var(--line);border-radius:6px;padding:.6rem .8rem;overflow-x:auto;white-space:pre-wrap;
overflow-wrap:anywhere}
details{border:1px solid var(--line);border-radius:6px;margin:.35rem 0}
details[open]{padding-bottom:.6rem}details[open]>summary{border-bottom:1px solid var(--line)}
summary{padding:.45rem .8rem;cursor:pointer;background:var(--box);border-radius:6px;overflow-wrap:anywhere}
details>:not(summary){margin-left:.8rem;margin-right:.8rem}
summary b{display:inline-block;min-width:4.2rem;font-size:.82rem}
.get{color:var(--get)}.post{color:var(--post)}.delete{color:var(--delete)}
summary a{text-decoration:none;float:right}
table{border-collapse:collapse;width:calc(100% - 1.6rem)}
td{padding:.2rem 1rem .2rem 0;vertical-align:top;border-top:1px solid var(--line)}tr:first-child td{border-top:0}
td:first-child{white-space:nowrap}
input{font:inherit;width:100%;box-sizing:border-box;padding:.5rem .8rem;margin-top:.8rem;color:inherit;background:var(--box);
border:1px solid var(--line);border-radius:6px}
)";

/// Shows the operations whose summary line contains every typed word, and opens the one named in the address.
inline constexpr std::string_view kDocsScript = R"(
const filter = document.getElementById("filter");
const sections = [...document.querySelectorAll("section")];
filter.hidden = false;
filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/);
  for (const section of sections) {
    const all = [...section.querySelectorAll("details")];
    for (const one of all) {
      const line = (one.id + " " + one.querySelector("summary").textContent).toLowerCase();
      one.hidden = !words.every(word => line.includes(word));
    }
    section.hidden = all.every(one => one.hidden);
  }
});
const open_named = () => {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!named) return;
  named.hidden = named.parentElement.hidden = false;
  named.open = true;
  named.scrollIntoView();
};
addEventListener("hashchange", open_named);
open_named();
)";

}  // namespace relay::api
