relay_fuzzer(outbox SOURCES outbox_fuzz.cc LINKS relay::client)
