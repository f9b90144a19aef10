/// Waits for another process, always with a timeout.

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/// The first truthy value of `condition`, or undefined after `ms`.
export async function until(condition, ms, every = 60) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() >= end) return undefined;
    await pause(every);
  }
}

export class TestError extends Error {}

/// Like `until`, but throws the message after `ms`.
export async function must(condition, ms, message) {
  const value = await until(condition, ms);
  if (!value) throw new TestError(typeof message === 'function' ? await message() : message);
  return value;
}
