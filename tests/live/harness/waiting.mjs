/// Waiting for what another process does. Everything here ends: with a value, or with nothing when the time is over.

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/// The first truthy answer of `look`, or undefined after `ms`.
export async function until(look, ms, every = 60) {
  const end = Date.now() + ms;
  for (;;) {
    const answer = await look();
    if (answer) return answer;
    if (Date.now() >= end) return undefined;
    await pause(every);
  }
}

export class Trouble extends Error {}

/// The same, for what must happen: the sentence says what did not.
export async function must(look, ms, sentence) {
  const answer = await until(look, ms);
  if (!answer) throw new Trouble(typeof sentence === 'function' ? await sentence() : sentence);
  return answer;
}
