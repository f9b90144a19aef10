relay_fuzzer(api_request SOURCES api_request_fuzz.cc LINKS relay::api)
relay_fuzzer(event_text SOURCES event_text_fuzz.cc LINKS relay::api)
relay_fuzzer(event_subscription SOURCES event_subscription_fuzz.cc LINKS relay::api)
relay_fuzzer(socket_request SOURCES socket_request_fuzz.cc LINKS relay::api)
