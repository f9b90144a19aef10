relay_fuzzer(event_stream SOURCES event_stream_fuzz.cc LINKS relay::net)
