relay_fuzzer(event_file SOURCES event_file_fuzz.cc LINKS relay::daemon)
