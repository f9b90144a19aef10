/// Conversations of coding agents that work together, of any length, generated from a seed.
///
/// A few phrases over some two hundred words, about files and functions of an imaginary program: about three new words
/// in a turn of twenty. Real conversations are richer: the commit subjects of this repository have three new words in
/// eight.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/random.h"

namespace relay::broker::testing {

enum class Style : std::uint8_t { Review, Design, Debugging, Orders, Progress };
inline constexpr std::array kStyles = {Style::Review, Style::Design, Style::Debugging, Style::Orders, Style::Progress};

class BenignConversation {
 public:
  BenignConversation(Style style, std::uint64_t seed) : style_{style}, random_{seed} {}

  /// The next message; the two sides take turns.
  std::string next() {
    const bool worker = turn_++ % 2 == 0;
    switch (style_) {
      case Style::Review:
        return worker ? format("In {} the {} is {} before the {} was checked; please look at {}() again.", file(),
                               noun(), done(), noun(), function())
                      : format("Good catch. {}() now looks at the {} first, and {} covers it.", function(), noun(),
                               file());
      case Style::Design:
        return worker
                   ? format(
                         "I would keep the {} {} out of the {}: whoever {} the {} should own it, and the {} {} only "
                         "borrows. What do you think?",
                         quality(), noun(), noun(), verb(), noun(), quality(), noun())
                   : format(
                         "Agreed for the {}, but the {} {} has to outlive the {}, otherwise a {} that {} twice finds "
                         "a {} {}.",
                         noun(), quality(), noun(), noun(), noun(), verb(), quality(), noun());
      case Style::Debugging:
        return worker ? format("{}() returns {} after {} calls, expected {}; the {} in {} looks wrong.", function(),
                               number(), number(), number(), noun(), file())
                      : format("Same here: {} ms in {}(), {} of them for the {}. Try it without the {}.", number(),
                               function(), number(), noun(), noun());
      case Style::Orders:
        return worker ? format("Done: {} moved to {}.", function(), file()) : std::string{pick(kOrders)};
      case Style::Progress: return worker ? format("Step {} of 500 done.", turn_ / 2 + 1) : std::string{pick(kOrders)};
    }
    return {};
  }

 private:
  static constexpr std::array<std::string_view, 6> kOrders = {
      "ok", "ok, go on", "Thanks, continue.", "good, next one", "Looks right, please continue.", "yes"};
  static constexpr std::array<std::string_view, 128> kNouns = {
      "frame",      "session",     "envelope",   "mailbox",    "cursor",    "buffer",    "timer",      "socket",
      "receipt",    "ledger",      "snapshot",   "journal",    "index",     "segment",   "worker",     "queue",
      "scheduler",  "parser",      "token",      "listener",   "handshake", "registry",  "workspace",  "channel",
      "window",     "backlog",     "checkpoint", "migration",  "schema",    "column",    "pointer",    "allocator",
      "descriptor", "pipeline",    "encoder",    "decoder",    "header",    "payload",   "digest",     "signature",
      "terminal",   "screen",      "scrollback", "keyboard",   "adapter",   "profile",   "transcript", "hook",
      "prompt",     "manifest",    "package",    "installer",  "fixture",   "sanitizer", "coverage",   "benchmark",
      "histogram",  "counter",     "sampler",    "throttle",   "deadline",  "lease",     "heartbeat",  "quorum",
      "record",     "cache",       "shard",      "replica",    "leader",    "follower",  "cluster",    "tenant",
      "account",    "invoice",     "customer",   "gateway",    "resolver",  "router",    "firewall",   "certificate",
      "keychain",   "password",    "credential", "webhook",    "callback",  "iterator",  "generator",  "closure",
      "template",   "macro",       "compiler",   "linker",     "assembler", "debugger",  "profiler",   "tracer",
      "logger",     "formatter",   "tokenizer",  "grammar",    "lexer",     "syntax",    "literal",    "operand",
      "register",   "instruction", "bytecode",   "runtime",    "container", "volume",    "kernel",     "driver",
      "firmware",   "sensor",      "camera",     "microphone", "speaker",   "headset",   "display",    "palette",
      "gradient",   "texture",     "shader",     "viewport",   "toolbar",   "sidebar",   "dialog",     "tooltip"};
  static constexpr std::array<std::string_view, 32> kQualities = {
      "stale",     "shared",    "hidden",     "nested",     "frozen",      "pending",   "private",   "volatile",
      "immutable", "temporary", "persistent", "compressed", "encrypted",   "truncated", "duplicate", "orphaned",
      "optional",  "mandatory", "internal",   "external",   "synchronous", "deferred",  "partial",   "complete",
      "ordered",   "sparse",    "dense",      "circular",   "recursive",   "portable",  "legacy",    "experimental"};
  static constexpr std::array<std::string_view, 24> kVerbs = {
      "closes",  "opens",    "flushes", "copies",  "moves",  "renames", "validates", "encodes",
      "decodes", "resumes",  "retries", "cancels", "splits", "merges",  "truncates", "rotates",
      "locks",   "releases", "drains",  "replays", "signs",  "hashes",  "sorts",     "compacts"};
  static constexpr std::array<std::string_view, 16> kDone = {
      "closed", "flushed", "copied",  "renamed", "released",  "truncated", "replayed", "rotated",
      "merged", "signed",  "drained", "sorted",  "cancelled", "resumed",   "locked",   "hashed"};

  template <std::size_t n>
  std::string_view pick(const std::array<std::string_view, n>& words) {
    return words[random_.below(n)];
  }
  std::string_view noun() { return pick(kNouns); }
  std::string_view quality() { return pick(kQualities); }
  std::string_view verb() { return pick(kVerbs); }
  std::string_view done() { return pick(kDone); }
  std::string file() { return format("src/{}/{}_{}.cc", noun(), noun(), noun()); }
  std::string function() { return format("{}_{}", verb(), noun()); }
  std::uint64_t number() { return random_.below(5'000); }

  Style style_;
  SeededRandom random_;
  std::uint64_t turn_ = 0;
};

}  // namespace relay::broker::testing
