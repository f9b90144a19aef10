relay_fuzzer(mcp SOURCES mcp_fuzz.cc LINKS relay::mcp)
