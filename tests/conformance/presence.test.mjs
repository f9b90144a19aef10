import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { join, kNew, kOld, unique, versions } from './harness/clients.mjs';
import { sharedDaemon } from './harness/shared.mjs';

describe('presence', () => {
  const daemon = sharedDaemon();

  for (const version of versions) {
    test(`2.1.14: onAgentReady and waitForAgentReady() report a ${version} client`, async (t) => {
      const alice = await join(t, daemon, kNew, unique('Alice'));
      const name = unique('Worker');
      const input = [];
      alice.client.onAgentReady = (info) => input.push(info);
      const waiting = alice.client.waitForAgentReady(name, 5_000);
      await join(t, daemon, version, name, { cli: 'gemini', task: 'tests' });
      const info = await waiting;
      assert.deepEqual([info.name, info.cli, info.task], [name, 'gemini', 'tests']);
      assert.ok(Math.abs(info.connectedAt - Date.now()) < 60_000);
      assert.deepEqual(input.map((one) => one.name), [name]);
    });
  }

  test('no client receives AGENT_READY of itself', async (t) => {
    const alice = await join(t, daemon, kNew, unique('Alice'));
    await alice.barrier();
    assert.deepEqual(alice.framesOf('AGENT_READY'), []);
  });

  for (const version of versions) {
    test(`${version}: a user with two windows gets every message in both`, async (t) => {
      const alice = await join(t, daemon, kOld, unique('Alice'));
      const name = unique('Person');
      const windows = [await join(t, daemon, version, name, { entityType: 'user' }),
        await join(t, daemon, version, name, { entityType: 'user' })];
      for (const body of ['one', 'two']) alice.client.sendMessage(name, body);
      for (const window of windows) {
        await window.untilMessages(2);
        assert.deepEqual(window.bodies, ['one', 'two']);
        assert.deepEqual(window.errors, []);
      }
      windows[0].close();
      await alice.barrier();
      alice.client.sendMessage(name, 'three');
      await windows[1].untilMessages(3);
      windows[1].client.sendMessage(alice.name, 'from the second window');
      await alice.untilMessages(1);
      assert.equal(alice.messages[0].from, name);
    });
  }
});
