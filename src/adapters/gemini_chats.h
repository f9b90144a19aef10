/// Finds the transcript of a running Gemini CLI by what its user typed.
///
///     tmp/<project>/logs.json      what users typed: session, time, text
///     tmp/<project>/chats/*.jsonl  the transcripts, a file per conversation
///
/// Why the session's id is not enough: `/clear` and `/resume` continue in a transcript of another session, and Gemini
/// opens a transcript only to append a line. But logs.json names the session that the process was started with,
/// whatever was resumed since, so the prompt that is in both identifies the transcript.
/// Invariants: a transcript is returned only when it alone has that prompt; transcripts of other processes that are
///   known by logs.json are skipped. Only the ends of files are read, and no links followed.
/// Threading: reads files; any thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace relay::adapters {

struct GeminiPrompt {
  std::string text = {};
  WallMs at = 0;  // it was typed
};
struct GeminiPrompts {
  bool readable = false;               // there is a logs.json of the form we know
  std::vector<GeminiPrompt> own = {};  // of the session asked for
  std::set<std::string> others = {};   // sessions of other processes
};
/// `logs_file`: logs.json of a project. `since`: of the session's own prompts; `others_since`: of those of others.
GeminiPrompts read_gemini_prompts(const std::string& logs_file, std::string_view session, WallMs since,
                                  WallMs others_since);

/// Was something typed that must be in a record? A command of Gemini's own (`/compress`) need not be.
bool holds_a_prompt(const GeminiPrompts& prompts);

struct GeminiChat {
  std::string path = {}, session = {};  // empty: none holds it, or several do
  std::size_t holders = 0;
};
/// The record in `chats` that holds one of the session's own prompts. Subagents have theirs in folders of their own.
GeminiChat find_gemini_chat(const std::string& chats, const GeminiPrompts& prompts);

/// The newest record of that session below `tmp`; empty: none. Its file bears the first digits of the session's id.
std::string find_gemini_chat_of(const std::string& tmp, std::string_view session);

}  // namespace relay::adapters
