// An events.jsonl that was torn, or changed by somebody else: opening it must end in a file that goes on behind the last
// whole event of our store, whatever stood there; what is not ours is set aside, never added to.
//
// The first byte is the newest number of the store, the rest the file as it was found.
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

/// In memory where there is such a place: this runs thousands of times a second.
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
    FUZZ_CHECK(last.has_value());  // a file cannot be in the way
    FUZZ_CHECK(*last <= newest);   // it does not go on behind what the store has
    next = *last + 1;
    FUZZ_CHECK(file.append({event(next), event(next + 1)}, 1'000).has_value());  // it can be added to
  }
  {
    daemon::EventFile file{place().path};
    const auto last = file.open(next + 1);
    FUZZ_CHECK(last && *last == next + 1);  // what was added is the end of it
  }
  std::ofstream{place().path + "/events.jsonl", std::ios::binary | std::ios::app}
      << R"({"type":"item.)";  // torn by a kill
  daemon::EventFile file{place().path};
  const auto last = file.open(next + 1);
  FUZZ_CHECK(last && *last == next + 1);  // a torn line is no event
  return 0;
}
