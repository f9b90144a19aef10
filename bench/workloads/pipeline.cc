/// Throughput of agent output through libvterm, relay screen, and the whole pipeline of a host: screen, profile and
/// command extraction. One core, processor time.
#include <vterm.h>

#include <map>
#include <memory>

#include "output/streams.h"
#include "profiles/registry.h"
#include "profiles/screen_watcher.h"
#include "workloads/processor_time.h"
#include "workloads/workload.h"

namespace relay::bench {
namespace {

constexpr std::size_t kChunkBytes = 4 * 1024;  // the size of one read from a pseudo-terminal

template <class Feed>
void feed_in_chunks(const Tape& tape, Feed feed) {
  for (std::size_t at = 0; at < tape.bytes.size(); at += kChunkBytes)
    feed(std::string_view{tape.bytes}.substr(at, kChunkBytes));
}

void read_by_libvterm(const Tape& tape) {
  const std::unique_ptr<VTerm, decltype(&vterm_free)> terminal{vterm_new(tape.size.rows, tape.size.columns),
                                                               vterm_free};
  vterm_set_utf8(terminal.get(), 1);
  VTermScreen* screen = vterm_obtain_screen(terminal.get());
  vterm_screen_enable_altscreen(screen, 1);
  vterm_screen_set_damage_merge(screen, VTERM_DAMAGE_SCROLL);
  vterm_screen_reset(screen, 1);
  feed_in_chunks(tape, [&](std::string_view bytes) {
    vterm_input_write(terminal.get(), bytes.data(), bytes.size());
    vterm_screen_flush_damage(screen);
  });
}

void read_by_screen(const Tape& tape) {
  terminal::Screen screen{tape.size};
  feed_in_chunks(tape, [&](std::string_view bytes) {
    screen.feed(bytes);
    (void)screen.take_reports();
  });
}

/// Created once per agent, as in a host.
const profiles::CompiledProfile& compiled_profile(const std::string& profile) {
  static std::map<std::string, profiles::CompiledProfile> compiled;
  if (const auto found = compiled.find(profile); found != compiled.end()) return found->second;
  return compiled.emplace(profile, *profiles::CompiledProfile::open(*profiles::find_profile(profile))).first->second;
}

/// Updates as often as a host: after an interval, or when much has scrolled.
void read_by_host(const Tape& tape) {
  profiles::ScreenWatcher watcher{compiled_profile(tape.profile)};
  terminal::Screen screen{tape.size};
  std::chrono::steady_clock::time_point last{};
  std::uint64_t seen_rows = 0;
  feed_in_chunks(tape, [&](std::string_view bytes) {
    screen.feed(bytes);
    (void)screen.take_reports();
    const auto now = std::chrono::steady_clock::now();
    if (now - last < profiles::kMinUpdateInterval &&
        screen.scrollback().end() - seen_rows <= profiles::kHistoryRows / 2)
      return;
    last = now;
    seen_rows = screen.scrollback().end();
    (void)watcher.update(screen, now);
  });
}

std::function<Result<std::vector<Outcome>>(const Scale&)> over_all_streams(void (*read)(const Tape&)) {
  return [read](const Scale&) -> Result<std::vector<Outcome>> {
    static const auto streams = all_streams();
    std::vector<Outcome> outcomes;
    for (const auto& stream : streams) {
      for (const auto& tape : stream.tapes) (void)compiled_profile(tape.profile);
      const double seconds = processor_seconds([&] {
        for (const auto& tape : stream.tapes) read(tape);
      });
      outcomes.push_back(
          {.variant = stream.title, .measurements = {{Metric::Throughput, stream.megabytes() / seconds}}});
    }
    return outcomes;
  };
}

}  // namespace

Workload pipeline_work() {
  return {.name = "pipeline",
          .title = "an agent's output, read on one core",
          .headline = Metric::Throughput,
          .candidates = {{.traits = {.name = "libvterm",
                                     .title = "libvterm",
                                     .note = "a screen; it keeps neither scrollback nor wrapped rows"},
                          .run = over_all_streams(read_by_libvterm)},
                         {.traits = {.name = "screen",
                                     .title = "relay screen",
                                     .own = true,
                                     .note = "with scrollback and wrapped rows"},
                          .run = over_all_streams(read_by_screen)},
                         {.traits = {.name = "host",
                                     .title = "screen, profile and commands",
                                     .own = true,
                                     .note = "the complete output path of a host"},
                          .run = over_all_streams(read_by_host)}},
          .yardsticks = {"libvterm", "screen"}};
}

}  // namespace relay::bench
