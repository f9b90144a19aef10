/// The base of the readers: parses a line as an object, collects entries, and reads the line's time. Used by the
///   readers only.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "transcripts/dedup_cache.h"
#include "transcripts/reader.h"

namespace relay::transcripts {

class LineReader : public Reader {
 public:
  Entries read(std::string_view line) final;
  [[nodiscard]] WallMs written_at() const final { return written_at_; }

 protected:
  virtual void read_object(const json::object& line) = 0;
  /// Emits an Unknown, once for each type.
  void emit_unknown(const std::string& type, std::string problem);

  Entries entries_;  // of the current line

 private:
  DedupCache<bool> unknown_;
  WallMs written_at_ = 0;
};

}  // namespace relay::transcripts
