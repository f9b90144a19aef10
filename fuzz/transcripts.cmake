relay_fuzzer(transcripts SOURCES transcripts_fuzz.cc LINKS relay::transcripts)
