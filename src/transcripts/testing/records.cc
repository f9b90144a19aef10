#include "transcripts/testing/records.h"

#include <fstream>
#include <sstream>

#include "base/format.h"
#include "base/result.h"

namespace relay::transcripts::testing {

std::string read_whole(const std::string& path) {
  const std::ifstream stream{path};
  RELAY_ASSERT(stream.good());
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<std::string> record_lines(const std::string& file) {
  std::istringstream text{read_whole(relay::format("{}/{}", RELAY_TRANSCRIPTS_TESTDATA, file))};
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::unique_ptr<Reader> reader_for(const std::string& file) {
  if (file.starts_with("claude")) return claude_reader();
  if (file.starts_with("codex")) return codex_reader();
  RELAY_ASSERT(file.starts_with("gemini"));
  return gemini_reader();
}

Entries read_all(Reader& reader, const std::vector<std::string>& lines) {
  Entries all;
  for (const auto& line : lines)
    for (auto& entry : reader.read(line)) all.push_back(std::move(entry));
  return all;
}

}  // namespace relay::transcripts::testing
