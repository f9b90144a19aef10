/// Finds the transcript of a running Gemini CLI by what its user typed.
///
///     tmp/<project>/logs.json      what users typed: session, time, text
///     tmp/<project>/chats/*.jsonl  the transcripts, a file per conversation
///
/// Why the session's id is not enough: `/clear` and `/resume` continue in a transcript of another session, and Gemini
/// opens a transcript only to append a line. But logs.json always names the session that the process was started with,
/// so the prompt that is in both identifies the transcript.
/// Invariants: a transcript is returned only if no other one has that prompt; transcripts of other processes in
///   logs.json are skipped. Only the ends of files are read, and no links followed.
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
  bool readable = false;               // logs.json exists and has the expected format
  std::vector<GeminiPrompt> own = {};  // of the requested session
  std::set<std::string> others = {};   // sessions of other processes
};
/// `logs_file`: logs.json of a project. `since`: for the session's own prompts; `others_since`: for those of others.
GeminiPrompts read_gemini_prompts(const std::string& logs_file, std::string_view session, WallMs since,
                                  WallMs others_since);

/// True if a transcript must contain one of them; it need not contain a command of Gemini itself (`/compress`).
bool has_model_prompt(const GeminiPrompts& prompts);

struct GeminiChat {
  std::string path = {}, session = {};  // empty: no transcript matches, or several do
  std::size_t matches = 0;
};
/// The transcript in `chats` that contains one of the session's own prompts. Those of subagents are in other folders.
GeminiChat find_gemini_chat(const std::string& chats, const GeminiPrompts& prompts);

/// The newest transcript of that session below `tmp`, by the first digits of its id in the file name; empty: none.
std::string find_gemini_chat_of(const std::string& tmp, std::string_view session);

}  // namespace relay::adapters
