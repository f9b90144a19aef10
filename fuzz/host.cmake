relay_fuzzer(door SOURCES door_fuzz.cc LINKS relay::host)
