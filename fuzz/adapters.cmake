relay_fuzzer(opencode_events SOURCES opencode_events_fuzz.cc LINKS relay::adapters)
