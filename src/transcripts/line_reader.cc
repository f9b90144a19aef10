#include "transcripts/line_reader.h"

#include "text/iso_time.h"
#include "transcripts/fields.h"

namespace relay::transcripts {

Entries LineReader::read(std::string_view line) {
  written_at_ = 0;
  const auto object = parse_line(line);
  if (!object) return {Unknown{.problem = object.error().message()}};
  written_at_ = text::parse_iso_time(short_string(*object, "timestamp")).value_or(0);
  entries_.clear();
  read_object(*object);
  return std::exchange(entries_, {});
}

void LineReader::emit_unknown(const std::string& type, std::string problem) {
  if (unknown_.at(type).second) entries_.push_back(Unknown{.type = type, .problem = std::move(problem)});
}

}  // namespace relay::transcripts
