import { setTimeout as sleep } from 'node:timers/promises';

// Waits for a truthy value and returns it; after `ms` fails with the description.
export async function until(condition, description, ms = 5_000) {
  const deadline = Date.now() + ms;
  for (;;) {
    const value = condition();
    if (value) return value;
    if (Date.now() > deadline)
      throw new Error(`not within ${ms} ms: ${typeof description === 'function' ? description() : description}`);
    await sleep(2);
  }
}
