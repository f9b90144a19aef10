// Any events.jsonl, torn or modified by another program: opening it yields a file that continues after the last whole
// event of this store. Foreign content is quarantined and never appended to.
//
// The first byte is the newest number of the store, the rest the content of the file.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/format.h"
#include "check.h"
#include "daemon/event_file.h"

namespace {

using namespace relay;
namespace fs = std::filesystem;

/// In memory if possible: this runs thousands of times per second.
struct Place {
  Place() {
    std::string name = fs::is_directory("/dev/shm") ? "/dev/shm/relay-events-XXXXXX" : "/tmp/relay-events-XXXXXX";
    path = ::mkdtemp(name.data());
  }
  ~Place() { fs::remove_all(path); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  void empty() const {
    for (const auto& entry : fs::directory_iterator{path}) fs::remove_all(entry.path());
  }
  std::string path;
};

const Place& place() {
  static const Place made;
  return made;
}

records::EncodedEvent event(records::EventSeq number) {
  return {number, "item.started", format(R"({{"type":"item.started","_seq":{},"_ts":1000}})", number)};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  place().empty();
  const records::EventSeq newest = data[0];
  std::ofstream{place().path + "/events.jsonl", std::ios::binary}.write(reinterpret_cast<const char*>(data + 1),
                                                                        static_cast<std::streamsize>(size - 1));
  records::EventSeq next = 0;
  {
    daemon::EventFile file{place().path};
    const auto last = file.open(newest);
    FUZZ_CHECK(last.has_value());  // no content makes open() fail
    FUZZ_CHECK(*last <= newest);   // not ahead of the store
    next = *last + 1;
    FUZZ_CHECK(file.append({event(next), event(next + 1)}, 1'000).has_value());  // appending works
  }
  {
    daemon::EventFile file{place().path};
    const auto last = file.open(next + 1);
    FUZZ_CHECK(last && *last == next + 1);  // the appended events are its end
  }
  std::ofstream{place().path + "/events.jsonl", std::ios::binary | std::ios::app}
      << R"({"type":"item.)";  // torn by a kill
  daemon::EventFile file{place().path};
  const auto last = file.open(next + 1);
  FUZZ_CHECK(last && *last == next + 1);  // a torn line is no event
  return 0;
}
