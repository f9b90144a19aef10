relay_fuzzer(speech SOURCES speech_fuzz.cc LINKS relay::speech)
