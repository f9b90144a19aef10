import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { join, kNew, unique, versions } from './harness/clients.mjs';
import { sharedDaemon } from './harness/shared.mjs';

describe('channels', () => {
  const daemon = sharedDaemon();

  for (const version of versions) {
    test(`${version}: sendChannelMessage() reaches all members and no others`, async (t) => {
      const channel = `#${unique('build')}`;
      const alice = await join(t, daemon, version, unique('Alice'));
      const bob = await join(t, daemon, version, unique('Bob'));
      const carol = await join(t, daemon, version, unique('Carol'));
      for (const member of [alice, bob]) {
        assert.equal(member.client.joinChannel(channel, 'shown name'), true);
        await member.barrier();
      }
      const more = { thread: 't1', mentions: ['Bob'], attachments: [{ name: 'a.txt' }], data: { n: 1 } };
      assert.equal(alice.client.sendChannelMessage(channel, 'green', more), true);
      await bob.until(() => bob.posts.length === 1, 'the post');
      const [post] = bob.posts;
      assert.deepEqual([post.from, post.channel, post.body], [alice.name, channel, 'green']);
      assert.deepEqual(post.envelope.payload, { channel, body: 'green', ...more });
      assert.equal(bob.messages[0].payload.data._isChannelMessage, true);
      assert.equal(bob.messages[0].originalTo, channel);
      alice.client.sendMessage(carol.name, 'marker');
      await carol.untilMessages(1);
      await alice.barrier();
      assert.equal(carol.posts.length, 0, 'not a member');
      assert.equal(alice.posts.length, 0, 'no echo');
    });

    test(`${version}: members are notified of joins and leaves`, async (t) => {
      const channel = `#${unique('hall')}`;
      const alice = await join(t, daemon, version, unique('Alice'));
      const bob = await join(t, daemon, version, unique('Bob'));
      alice.client.joinChannel(channel);
      await alice.barrier();
      bob.client.joinChannel(channel, 'Bob the Builder');
      const joined = await alice.until(() => alice.framesOf('CHANNEL_JOIN').find((f) => f.payload.channel === channel),
        'CHANNEL_JOIN');
      assert.equal(joined.from, bob.name);
      assert.equal(joined.payload.displayName, 'Bob the Builder');
      assert.equal(bob.client.leaveChannel(channel, 'lunch'), true);
      const left = await alice.until(() => alice.framesOf('CHANNEL_LEAVE').find((f) => f.payload.channel === channel),
        'CHANNEL_LEAVE');
      assert.deepEqual([left.from, left.payload.reason], [bob.name, 'lunch']);
      alice.client.sendChannelMessage(channel, 'are you there?');
      alice.client.sendMessage(bob.name, 'marker');
      await bob.untilMessages(1);
      assert.deepEqual(bob.bodies, ['marker']);
    });

    test(`${version}: adminJoinChannel() and adminRemoveMember() move others, silently`, async (t) => {
      const channel = `#${unique('ops')}`;
      const admin = await join(t, daemon, version, unique('Admin'));
      const alice = await join(t, daemon, version, unique('Alice'));
      const bob = await join(t, daemon, version, unique('Bob'));
      for (const member of [alice, bob]) assert.equal(admin.client.adminJoinChannel(channel, member.name), true);
      await admin.barrier();
      alice.client.sendChannelMessage(channel, 'hello ops');
      await bob.until(() => bob.posts.length === 1, 'the post');
      assert.deepEqual(alice.framesOf('CHANNEL_JOIN').filter((frame) => frame.payload.channel === channel), []);
      assert.equal(admin.client.adminRemoveMember(channel, bob.name), true);
      await admin.barrier();
      alice.client.sendChannelMessage(channel, 'only me now');
      alice.client.sendMessage(bob.name, 'marker');
      await bob.until(() => bob.bodies.includes('marker'), 'the marker');
      assert.equal(bob.posts.length, 1);
      assert.deepEqual(alice.framesOf('CHANNEL_LEAVE').filter((frame) => frame.payload.channel === channel), []);
    });

    test(`${version}: a membership update through _router counts`, async (t) => {
      const channel = `#${unique('sync')}`;
      const alice = await join(t, daemon, version, unique('Alice'));
      const bob = await join(t, daemon, version, unique('Bob'));
      alice.client.joinChannel(channel);
      const update = (action) => ({ _channelMembershipUpdate: { channel, member: bob.name, action } });
      alice.client.sendMessage('_router', 'membership', 'state', update('join'));
      await alice.barrier();
      assert.deepEqual(alice.errors, []);
      alice.client.sendChannelMessage(channel, 'welcome');
      await bob.until(() => bob.posts.length === 1, 'the post');
      alice.client.sendMessage('_router', 'membership', 'state', update('leave'));
      alice.client.sendChannelMessage(channel, 'after the leave');
      alice.client.sendMessage(bob.name, 'marker');
      await bob.until(() => bob.bodies.includes('marker'), 'the marker');
      assert.equal(bob.posts.length, 1);
    });

    test(`${version}: every client is in #general from the start`, async (t) => {
      const alice = await join(t, daemon, version, unique('Alice'));
      const bob = await join(t, daemon, version, unique('Bob'));
      alice.client.sendChannelMessage('#general', `hello from ${alice.name}`);
      await bob.until(() => bob.posts.some((post) => post.body === `hello from ${alice.name}`), 'the post');
    });

    test(`${version}: a direct channel dm:a:b works like any other, its author's name in any case`, async (t) => {
      const alice = await join(t, daemon, version, unique('Alice'));
      const bob = await join(t, daemon, version, unique('Bob'));
      const channel = `dm:${alice.name}:${bob.name}`;
      bob.client.joinChannel(channel);
      bob.client.adminJoinChannel(channel, alice.name.toUpperCase());
      await bob.barrier();
      alice.client.sendChannelMessage(channel, 'psst');
      await bob.until(() => bob.posts.length === 1, 'the post');
      assert.equal(bob.posts[0].channel, channel);
    });

    test(`${version}: members stay members when their connection is cut`, async (t) => {
      const channel = `#${unique('stay')}`;
      const alice = await join(t, daemon, version, unique('Alice'));
      const bob = await join(t, daemon, version, unique('Bob'));
      for (const member of [alice, bob]) member.client.joinChannel(channel);
      await bob.barrier();
      await alice.barrier();
      bob.disconnect();
      await bob.until(() => bob.states.filter((state) => state === 'READY').length === 2, 'ready again');
      alice.client.sendChannelMessage(channel, 'welcome back');
      await bob.until(() => bob.posts.length === 1, 'the post');
    });
  }

  test('a post by a non-member is refused or delivered, never lost silently', async (t) => {
    const channel = `#${unique('closed')}`;
    const alice = await join(t, daemon, kNew, unique('Alice'));
    const bob = await join(t, daemon, kNew, unique('Bob'));
    bob.client.joinChannel(channel);
    await bob.barrier();
    alice.client.sendChannelMessage(channel, 'may I?');
    await bob.until(() => bob.posts.length === 1 || alice.errors.length === 1, 'the post, or an ERROR to its author');
  });
});
