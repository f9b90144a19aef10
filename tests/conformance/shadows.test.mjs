import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { join, unique, versions } from './harness/clients.mjs';
import { sharedDaemon } from './harness/shared.mjs';

describe('shadows', () => {
  const daemon = sharedDaemon();

  for (const version of versions) {
    test(`${version}: a shadow gets copies of what its primary hears and says`, async (t) => {
      const alice = await join(t, daemon, version, unique('Alice'));
      const bob = await join(t, daemon, version, unique('Bob'));
      const shadow = await join(t, daemon, version, unique('Shadow'));
      assert.equal(shadow.client.bindAsShadow(alice.name, { speakOn: ['SESSION_END'], receiveIncoming: true,
        receiveOutgoing: true }), true);
      await shadow.barrier();
      bob.client.sendMessage(alice.name, 'to her', 'message', { kept: 1 });
      await shadow.untilMessages(1);
      await alice.untilMessages(1);
      alice.client.sendMessage(bob.name, 'from her');
      await shadow.untilMessages(2);
      const [incoming, outgoing] = shadow.messages;
      assert.deepEqual([incoming.from, incoming.payload.body], [bob.name, 'to her']);
      assert.deepEqual(incoming.payload.data,
        { kept: 1, _shadowCopy: true, _shadowOf: alice.name, _shadowDirection: 'incoming' });
      assert.deepEqual([outgoing.from, outgoing.payload.body], [alice.name, 'from her']);
      assert.deepEqual(outgoing.payload.data,
        { _shadowCopy: true, _shadowOf: alice.name, _shadowDirection: 'outgoing' });
      assert.equal(alice.messages[0].payload.data._shadowCopy, undefined);

      assert.equal(shadow.client.unbindAsShadow(alice.name), true);
      await shadow.barrier();
      bob.client.sendMessage(alice.name, 'private again');
      bob.client.sendMessage(shadow.name, 'marker');
      await shadow.until(() => shadow.bodies.includes('marker'), 'the marker');
      assert.deepEqual(shadow.bodies, ['to her', 'from her', 'marker']);
    });

    test(`${version}: a shadow chooses its directions`, async (t) => {
      const alice = await join(t, daemon, version, unique('Alice'));
      const bob = await join(t, daemon, version, unique('Bob'));
      const hears = await join(t, daemon, version, unique('Hears'));
      const speaks = await join(t, daemon, version, unique('Speaks'));
      hears.client.bindAsShadow(alice.name, { speakOn: ['SESSION_END'], receiveOutgoing: false });
      speaks.client.bindAsShadow(alice.name, { speakOn: ['SESSION_END'], receiveIncoming: false });
      await hears.barrier();
      await speaks.barrier();
      bob.client.sendMessage(alice.name, 'in');
      await alice.untilMessages(1);
      alice.client.sendMessage(bob.name, 'out');
      await bob.untilMessages(1);
      for (const shadow of [hears, speaks]) {
        bob.client.sendMessage(shadow.name, 'marker');
        await shadow.until(() => shadow.bodies.includes('marker'), 'the marker');
      }
      assert.deepEqual(hears.bodies, ['in', 'marker']);
      assert.deepEqual(speaks.bodies, ['out', 'marker']);
    });
  }
});
