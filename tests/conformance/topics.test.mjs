import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { join, unique, versions } from './harness/clients.mjs';
import { sharedDaemon } from './harness/shared.mjs';
import { Wire } from './harness/wire.mjs';

// No published client can send a topic, so a raw connection sends and the clients subscribe.
describe('topics', () => {
  const daemon = sharedDaemon();

  for (const version of versions) {
    test(`${version}: subscribe() lets a broadcast with that topic through, unsubscribe() ends it`, async (t) => {
      const topic = unique('topic');
      const sender = await Wire.connect(t, daemon.socket);
      await sender.hello(unique('Sender'));
      const bob = await join(t, daemon, version, unique('Bob'));
      const carol = await join(t, daemon, version, unique('Carol'));
      const broadcast = (body, to = '*', about = topic) => sender.sendType('SEND', { kind: 'message', body }, { to, topic: about });
      assert.equal(bob.client.subscribe(topic), true);
      await bob.barrier();
      broadcast('subscribed');
      broadcast('other', '*', `${topic}-else`);
      await bob.untilMessages(1);
      assert.equal(bob.frame('DELIVER').topic, topic);
      assert.equal(bob.messages[0].originalTo, '*');
      assert.equal(bob.client.unsubscribe(topic), true);
      await bob.barrier();
      broadcast('after unsubscribe');
      broadcast('for you', bob.name);
      broadcast('for you', carol.name);
      await bob.untilMessages(2);
      await carol.untilMessages(1);
      assert.deepEqual(bob.bodies, ['subscribed', 'for you'], 'direct messages need no subscription');
      assert.deepEqual(carol.bodies, ['for you']);
      assert.equal(carol.frame('DELIVER').topic, topic);
    });

    test(`${version}: each topic has its own numbers`, async (t) => {
      const sender = await Wire.connect(t, daemon.socket);
      await sender.hello(unique('Sender'));
      const bob = await join(t, daemon, version, unique('Bob'));
      for (const topic of ['a', 'b', 'a', undefined, 'b', 'a'])
        sender.sendType('SEND', { kind: 'message', body: topic ?? 'none' }, { to: bob.name, topic });
      await bob.untilMessages(6);
      const numbers = bob.framesOf('DELIVER').map((frame) => `${frame.topic ?? 'none'}${frame.delivery.seq}`);
      assert.deepEqual(numbers, ['a1', 'b1', 'a2', 'none1', 'b2', 'a3']);
    });
  }
});
