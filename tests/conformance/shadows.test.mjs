import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { join, unique, versions } from './harness/clients.mjs';
import { sharedDaemon } from './harness/shared.mjs';

describe('shadows', () => {
  const daemon = sharedDaemon();

  for (const version of versions) {
    test(`${version}: a shadow gets copies of what its primary receives and sends`, async (t) => {
      const alice = await join(t, daemon, version, unique('Alice'));
      const bob = await join(t, daemon, version, unique('Bob'));
      const shadow = await join(t, daemon, version, unique('Shadow'));
      assert.equal(shadow.client.bindAsShadow(alice.name, { speakOn: ['SESSION_END'], receiveIncoming: true,
        receiveOutgoing: true }), true);
      await shadow.barrier();
      bob.client.sendMessage(alice.name, 'incoming', 'message', { key: 1 });
      await shadow.untilMessages(1);
      await alice.untilMessages(1);
      alice.client.sendMessage(bob.name, 'outgoing');
      await shadow.untilMessages(2);
      const [incoming, outgoing] = shadow.messages;
      assert.deepEqual([incoming.from, incoming.payload.body], [bob.name, 'incoming']);
      assert.deepEqual(incoming.payload.data,
        { key: 1, _shadowCopy: true, _shadowOf: alice.name, _shadowDirection: 'incoming' });
      assert.deepEqual([outgoing.from, outgoing.payload.body], [alice.name, 'outgoing']);
      assert.deepEqual(outgoing.payload.data,
        { _shadowCopy: true, _shadowOf: alice.name, _shadowDirection: 'outgoing' });
      assert.equal(alice.messages[0].payload.data._shadowCopy, undefined);

      assert.equal(shadow.client.unbindAsShadow(alice.name), true);
      await shadow.barrier();
      bob.client.sendMessage(alice.name, 'no longer copied');
      bob.client.sendMessage(shadow.name, 'marker');
      await shadow.until(() => shadow.bodies.includes('marker'), 'the marker');
      assert.deepEqual(shadow.bodies, ['incoming', 'outgoing', 'marker']);
    });

    test(`${version}: a shadow chooses its directions`, async (t) => {
      const alice = await join(t, daemon, version, unique('Alice'));
      const bob = await join(t, daemon, version, unique('Bob'));
      const incomingOnly = await join(t, daemon, version, unique('Incoming'));
      const outgoingOnly = await join(t, daemon, version, unique('Outgoing'));
      incomingOnly.client.bindAsShadow(alice.name, { speakOn: ['SESSION_END'], receiveOutgoing: false });
      outgoingOnly.client.bindAsShadow(alice.name, { speakOn: ['SESSION_END'], receiveIncoming: false });
      await incomingOnly.barrier();
      await outgoingOnly.barrier();
      bob.client.sendMessage(alice.name, 'in');
      await alice.untilMessages(1);
      alice.client.sendMessage(bob.name, 'out');
      await bob.untilMessages(1);
      for (const shadow of [incomingOnly, outgoingOnly]) {
        bob.client.sendMessage(shadow.name, 'marker');
        await shadow.until(() => shadow.bodies.includes('marker'), 'the marker');
      }
      assert.deepEqual(incomingOnly.bodies, ['in', 'marker']);
      assert.deepEqual(outgoingOnly.bodies, ['out', 'marker']);
    });
  }
});
