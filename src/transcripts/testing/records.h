/// Transcripts of real agents for tests: src/transcripts/testdata, one file per session.
#pragma once

#include <string>
#include <vector>

#include "transcripts/reader.h"

namespace relay::transcripts::testing {

std::string read_whole(const std::string& path);
std::vector<std::string> record_lines(const std::string& file);

/// Chosen by the first word of the file's name: `claude-session.jsonl`.
std::unique_ptr<Reader> reader_for(const std::string& file);

Entries read_all(Reader& reader, const std::vector<std::string>& lines);

template <class Kind>
std::vector<Kind> only(const Entries& entries) {
  std::vector<Kind> chosen;
  for (const auto& entry : entries)
    if (const auto* it = std::get_if<Kind>(&entry)) chosen.push_back(*it);
  return chosen;
}

}  // namespace relay::transcripts::testing
