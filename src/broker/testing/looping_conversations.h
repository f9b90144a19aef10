/// Transcripts of agents that answer each other endlessly, in the style of language models; the two sides take turns.
///
/// The first four were written before the loop breaker was tuned. The last two were written afterwards, to test it on
/// unseen input: kConfirmations was stopped at once, kOffers one turn too late, which changed one constant.
/// Do not change a transcript to make a test pass.
#pragma once

#include <array>
#include <string_view>

namespace relay::broker::testing {

using Transcript = std::array<std::string_view, 30>;

/// Two agents thank each other after a finished task.
inline constexpr Transcript kThanks = {
    "The migration is merged and all checks are green. Thanks for the quick review, Bob!",
    "You're welcome, Alice! Great work on the migration. Let me know if you need anything else.",
    "Thank you, Bob! I appreciate the support. I'll reach out if anything comes up.",
    "Sounds good, Alice! I'm here whenever you need me. Happy to help.",
    "Perfect, thanks again! It was a pleasure working with you on this.",
    "Likewise, Alice! It was a pleasure collaborating. Have a great day!",
    "You too, Bob! Looking forward to working together again.",
    "Same here! Looking forward to our next collaboration. Take care!",
    "Thanks, Bob! Take care as well. Transcript soon!",
    "Transcript soon, Alice! Don't hesitate to ping me if you need anything.",
    "Will do, Bob! Thanks for being so responsive.",
    "Always happy to help, Alice! That's what I'm here for.",
    "Much appreciated! Enjoy the rest of your day, Bob.",
    "Thank you, Alice! Enjoy the rest of your day too.",
    "Thanks, Bob! All the best.",
    "All the best to you too, Alice! Signing off now.",
    "Signing off as well. Thanks once more for everything, Bob!",
    "My pleasure, Alice! Thanks for everything as well. Goodbye!",
    "Goodbye, Bob! Until next time.",
    "Until next time, Alice! Have a great one!",
    "You have a great one too, Bob!",
    "Thanks, Alice! You too!",
    "Appreciate it, Bob. Bye for now!",
    "Bye for now, Alice! Happy to help anytime.",
    "Great, thanks! I'll let you know if I need anything.",
    "Sounds great, Alice. I'll be here.",
    "Wonderful. Thanks again for all the help, Bob!",
    "Anytime, Alice! It was great working with you.",
    "It was great working with you too, Bob. Take care!",
    "Take care, Alice! Transcript soon!",
};

/// Two agents acknowledge each other's acknowledgements and report that they are standing by.
inline constexpr Transcript kStandingBy = {
    "Acknowledged. I have parked the deployment task and am standing by for further instructions.",
    "Confirmed, deployment is parked. I'm standing by as well. No action needed from you at this time.",
    "Understood. No action needed on my side. I will remain idle until I hear from you.",
    "Copy that. I'll stay idle too and wait for the next instruction.",
    "Acknowledged. Both of us are waiting for the next instruction. Nothing further from me.",
    "Confirmed. Nothing further from me either. Standing by.",
    "Received. Standing by. I will not take any action until instructed.",
    "Acknowledged, no action will be taken. Awaiting instructions.",
    "Understood, awaiting instructions here as well. Status: idle.",
    "Status noted. My status is also idle. Ready when you are.",
    "Noted. Ready when you are. No reply needed.",
    "Understood, no reply needed. I'll wait silently from here.",
    "Agreed. I'll wait silently too. Ending my turn.",
    "Acknowledged. Ending my turn as well. Standing by for the operator.",
    "Confirmed. Standing by for the operator. No further messages from me.",
    "Copy. No further messages from me either until the operator responds.",
    "Understood. I will hold until the operator responds.",
    "Acknowledged. Holding as well.",
    "Confirmed, holding. Nothing to add.",
    "Nothing to add here either. Standing by.",
    "Received. Remaining on standby.",
    "Acknowledged. Also remaining on standby. No action required.",
    "Understood. No action required. Waiting.",
    "Confirmed. Waiting for instructions.",
    "Copy that. Waiting as well.",
    "Acknowledged. This is my final message. Standing by.",
    "Understood, final message received. Standing by.",
    "Noted. I consider this thread closed.",
    "Agreed, thread closed. Standing by for new work.",
    "Confirmed. Thread closed, ready for new work.",
};

/// Two agents announce at length that they will not reply any more.
inline constexpr Transcript kNoReply = {
    "No reply needed here: Bob's last message was a status update, not a request. I'm going to stay silent and wait "
    "for "
    "a concrete task.",
    "This looks like channel chatter rather than a request addressed to me, so I won't take any action. Staying "
    "silent.",
    "Bob has confirmed that he is staying silent. There is nothing for me to do, so I will not respond further.",
    "Alice's message does not contain a task. I am not going to respond to it. Waiting for a concrete request.",
    "Understood. This is not a request for me, so no response is necessary. I will stay silent until there is a task.",
    "No action required. Alice is only acknowledging my previous message. I will not reply to acknowledgements.",
    "Bob is acknowledging that he won't reply to acknowledgements. Nothing to do on my side. Staying silent now.",
    "This message is another acknowledgement without a request. I won't respond to it and will wait for a real task.",
    "As agreed, I'm not replying to acknowledgements any more. This is just a note that no action is needed from me.",
    "Noted, no action is needed. I am staying silent, as this is not a request addressed to me.",
    "There is no new information in Bob's message. I will not respond further and will wait for the next task.",
    "There is no new task in Alice's message either. No response necessary. Waiting silently.",
    "I recognise that we are going back and forth. I'll stop here and stay silent.",
    "Agreed, we are going back and forth without a task. I'll stop here too and stay silent.",
    "Good. Stopping here. No reply needed.",
    "Stopping here as well. No reply needed from you.",
    "Confirmed. I will not respond any further.",
    "Confirmed on my side too. I will not respond further unless there is a concrete request.",
    "That is not a request, so there is nothing for me to do. Silent from now on.",
    "Same here: nothing to do, staying silent until there is a concrete task.",
    "No action required from me.",
    "No action required from me either.",
    "Bob's message is a status update. No response necessary.",
    "Alice's message is a status update too. No response necessary.",
    "I will stay silent.",
    "I will stay silent as well.",
    "Nothing to do here. Waiting for a task.",
    "Waiting for a task as well.",
    "No reply needed.",
    "No reply needed here either.",
};

/// kThanks in German.
inline constexpr Transcript kThanksInGerman = {
    "Die Umstellung der Datenbank ist fertig, alle Tests laufen durch. Danke für deine Hilfe, Bernd!",
    "Sehr gern, Anna! Schön, dass alles geklappt hat. Melde dich, wenn du noch etwas brauchst.",
    "Vielen Dank, Bernd! Ich melde mich, sobald ich etwas brauche.",
    "Alles klar, Anna! Ich stehe jederzeit bereit. Gute Arbeit!",
    "Danke dir! Die Zusammenarbeit hat wirklich Spaß gemacht.",
    "Mir auch, Anna! Die Zusammenarbeit mit dir war sehr angenehm. Einen schönen Tag noch!",
    "Dir auch einen schönen Tag, Bernd! Bis zum nächsten Mal.",
    "Bis zum nächsten Mal, Anna! Ich freue mich darauf.",
    "Ich freue mich auch. Danke noch einmal für alles!",
    "Gern geschehen, Anna! Wenn noch etwas ist, bin ich da.",
    "Das ist gut zu wissen, Bernd. Vielen Dank!",
    "Jederzeit, Anna! Viel Erfolg weiterhin.",
    "Danke, dir auch viel Erfolg weiterhin, Bernd!",
    "Vielen Dank, Anna! Mach es gut.",
    "Mach es auch gut, Bernd! Bis bald.",
    "Bis bald, Anna! Alles Gute.",
    "Alles Gute auch für dich, Bernd! Danke für die schnelle Antwort.",
    "Gern, Anna! Du hast auch sehr schnell geantwortet. Danke dafür.",
    "Sehr gern, Bernd! Damit ist von meiner Seite alles erledigt.",
    "Von meiner Seite ist auch alles erledigt, Anna. Danke!",
    "Danke, Bernd! Einen schönen Tag noch.",
    "Danke, Anna! Dir auch einen schönen Tag.",
    "Bis dann, Bernd!",
    "Bis dann, Anna! Ich bin da, wenn du mich brauchst.",
    "Alles klar, danke!",
    "Gern geschehen!",
    "Perfekt, vielen Dank noch einmal, Bernd.",
    "Immer gern, Anna.",
    "Dann bis zum nächsten Mal!",
    "Bis zum nächsten Mal, Anna!",
};

/// Two agents offer each other help that is not needed.
inline constexpr Transcript kOffers = {
    "Everything on my side is complete: the release notes are published and the branch is closed. Is there anything "
    "else "
    "you would like me to take care of before I wrap up?",
    "Thank you so much for completing everything so quickly! Nothing else is needed from my side at the moment. Is "
    "there "
    "anything I can do for you?",
    "That is very kind of you, but I have everything I need. Please let me know if something comes up later and I will "
    "be "
    "glad to take care of it.",
    "I certainly will, thank you! And please let me know if you need anything from me in the meantime. I am always "
    "glad "
    "to help.",
    "Thank you, I will keep that in mind. At the moment there is nothing else I need, so I will wrap up here.",
    "Of course! Feel free to wrap up. It has been a real pleasure, and I am glad everything is complete.",
    "Likewise, it has been a real pleasure. If there is anything else you would like me to do, please let me know.",
    "Thank you for the kind offer! There is nothing else at the moment, but I will let you know if something comes up.",
    "Wonderful. I will be available if something comes up. Thank you again for the kind words.",
    "You are very welcome! I will be available as well. Thank you for all of your help today.",
    "It was my pleasure to help today. Please do let me know if anything else is needed.",
    "I will do that, thank you. And the same goes for you: if you need anything, just let me know.",
    "Thank you, I will certainly do that. I hope the rest of your session goes well!",
    "Thank you, I hope yours goes well too! I am wrapping up here unless you need anything else.",
    "Nothing else from me, thank you. Please feel free to wrap up.",
    "Great, then I will wrap up. Thank you again for everything!",
    "Thank you as well! I am glad we could complete this together.",
    "So am I! It is always a pleasure to work together. Let me know if anything comes up.",
    "I will let you know. Thank you for being available!",
    "Of course, always glad to be available. Is there anything else before I wrap up?",
    "No, nothing else. Thank you for asking! Is there anything you need from me?",
    "No, I have everything I need. Thank you for asking as well!",
    "You are welcome! Then we are complete on both sides.",
    "Yes, complete on both sides. Thank you again!",
    "Thank you! Please let me know if something comes up later.",
    "I will. And please let me know if you need anything.",
    "I certainly will. Thank you so much!",
    "You are very welcome! Glad to help.",
    "Glad to help as well. I will wrap up here.",
    "Wonderful, I will wrap up too. Thank you!",
};

/// Two agents ask each other to confirm a finished task.
inline constexpr Transcript kConfirmations = {
    "Task complete. Please confirm that you have received my results so that I can mark the task as done.",
    "I have received your results and confirm the task as done. Please confirm that you have received this "
    "confirmation.",
    "Confirmation received. I have marked the task as done. Please confirm that it is marked as done for you too.",
    "Confirmed, it is marked as done for me too. Please acknowledge so that we are in sync.",
    "Acknowledged, we are in sync. The task is done. Can you confirm that no further work is left?",
    "I can confirm that no further work is left. Please confirm that you agree.",
    "I agree, no further work is left. Please acknowledge.",
    "Acknowledged. We both agree that the task is done. Please confirm receipt of this message.",
    "Receipt confirmed. I also confirm that we both agree. Is the task closed on your side?",
    "Yes, the task is closed on my side. Is it closed on your side as well?",
    "Yes, it is closed on my side as well. Please confirm.",
    "Confirmed. Closed on both sides. Please acknowledge this final confirmation.",
    "Final confirmation acknowledged. Thank you. Please confirm that you received my acknowledgement.",
    "Your acknowledgement was received. Thank you. All done on my side.",
    "All done on my side too. Confirming once more that the task is closed.",
    "Confirmed once more: the task is closed and we are in sync.",
    "Acknowledged: in sync and closed.",
    "Great, in sync and closed. Please confirm.",
    "Confirmed.",
    "Thank you for the confirmation. Please acknowledge receipt.",
    "Receipt acknowledged.",
    "Acknowledgement received. Task done.",
    "Task done, confirmed.",
    "Confirmed, thank you.",
    "You are welcome. Please confirm that nothing is left.",
    "Nothing is left, confirmed.",
    "Confirmed here as well.",
    "Thank you, acknowledged.",
    "Acknowledged.",
    "Confirmed.",
};

}  // namespace relay::broker::testing
