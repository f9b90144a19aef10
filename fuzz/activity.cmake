relay_fuzzer(activity SOURCES activity_fuzz.cc LINKS relay::activity)
