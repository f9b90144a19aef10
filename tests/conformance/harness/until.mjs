import { setTimeout as sleep } from 'node:timers/promises';

// Waits for a truthy value and returns it; after `ms` fails with what was expected.
export async function until(condition, what, ms = 5_000) {
  const giveUp = Date.now() + ms;
  for (;;) {
    const value = condition();
    if (value) return value;
    if (Date.now() > giveUp) throw new Error(`not within ${ms} ms: ${typeof what === 'function' ? what() : what}`);
    await sleep(2);
  }
}
