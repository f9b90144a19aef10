import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { join, versions } from './harness/clients.mjs';
import { Daemon } from './harness/daemon.mjs';

const kBurst = 50_000;
const kBurstMs = 120_000;

describe('burst', () => {
  for (const version of versions) {
    test(`${version}: ${kBurst} messages in one burst arrive complete and in order`, async (t) => {
      const daemon = await Daemon.start();
      t.after(() => daemon.stop());
      const alice = await join(t, daemon, version, 'Alice');
      const bob = await join(t, daemon, version, 'Bob');
      const started = Date.now();
      for (let n = 0; n < kBurst; ++n)
        assert.equal(alice.client.sendMessage('Bob', `${n} `.padEnd(100, '.')), true);
      await bob.untilMessages(kBurst, kBurstMs);
      const elapsed = Date.now() - started;
      await bob.barrier();
      assert.equal(bob.messages.length, kBurst);
      bob.messages.forEach((message, n) => assert.equal(Number.parseInt(message.payload.body, 10), n));
      assert.deepEqual(alice.errors, []);
      assert.equal(count(alice, 'READY') + count(bob, 'READY'), 2, 'no client was disconnected');
      t.diagnostic(`${kBurst} messages in ${elapsed} ms`);
    });

    test(`${version}: kill -9 of the daemon in the middle of a burst repeats no message and keeps the order`, async (t) => {
      const daemon = await Daemon.start();
      t.after(() => daemon.stop());
      const alice = await join(t, daemon, version, 'Alice');
      const bob = await join(t, daemon, version, 'Bob');
      for (let n = 0; n < 20_000; ++n) alice.client.sendMessage('Bob', `${n}`);
      await bob.untilMessages(1_000, 20_000);
      await daemon.crashAndRestart();
      await alice.untilReady(15_000);
      await bob.untilReady(15_000);
      alice.client.sendMessage('Bob', '20000');
      await bob.until(() => bob.bodies.at(-1) === '20000', 'the last one', 30_000);
      const numbers = bob.bodies.map(Number);
      for (let i = 1; i < numbers.length; ++i)
        assert.ok(numbers[i] > numbers[i - 1], `${numbers[i]} after ${numbers[i - 1]}`);
    });
  }
});

const count = (client, state) => client.states.filter((one) => one === state).length;
