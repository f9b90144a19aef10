import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { join, kNew, kOld, unique } from './harness/clients.mjs';
import { sharedDaemon } from './harness/shared.mjs';

describe('queries of 2.1.14', () => {
  const daemon = sharedDaemon();
  const names = (agents) => agents.map((agent) => agent.name);

  test('getStatus()', async (t) => {
    const alice = await join(t, daemon, kNew, unique('Alice'));
    const status = await alice.client.getStatus();
    assert.match(status.version, /^\d+\.\d+\.\d+/);
    assert.ok(status.uptime >= 0);
    assert.equal(status.cloudConnected, false);
    assert.ok(status.agentCount >= 1);
    assert.deepEqual([status.storage.persistent, status.storage.canRead, status.storage.canWrite], [true, true, true]);
    assert.equal(status.storage.driver, 'sqlite');
  });

  test('getInbox() with its filters', async (t) => {
    const alice = await join(t, daemon, kNew, unique('Alice'));
    const carol = await join(t, daemon, kOld, unique('Carol'));
    const bob = await join(t, daemon, kNew, unique('Bob'));
    for (const body of ['a1', 'a2', 'a3']) alice.client.sendMessage(bob.name, body, 'message', undefined, 'th');
    carol.client.sendMessage(bob.name, 'c1');
    await bob.untilMessages(4);
    await bob.barrier();
    const inbox = await bob.client.getInbox();
    assert.deepEqual(inbox.map((message) => message.body).sort(), ['a1', 'a2', 'a3', 'c1']);
    for (const message of inbox) {
      assert.equal(typeof message.id, 'string');
      assert.ok(Math.abs(message.timestamp - Date.now()) < 60_000);
    }
    assert.equal(inbox.find((message) => message.body === 'a1').thread, 'th');
    assert.deepEqual((await bob.client.getInbox({ from: carol.name })).map((message) => message.body), ['c1']);
    assert.equal((await bob.client.getInbox({ limit: 2 })).length, 2);
    assert.deepEqual(await bob.client.getInbox({ unreadOnly: true }), []);
    assert.deepEqual(await inboxOfANewcomer(t), []);
  });

  async function inboxOfANewcomer(t) {
    const fresh = await join(t, daemon, kNew, unique('Fresh'));
    return fresh.client.getInbox();
  }

  test('getInbox() by channel', async (t) => {
    const channel = `#${unique('inbox')}`;
    const alice = await join(t, daemon, kNew, unique('Alice'));
    const bob = await join(t, daemon, kNew, unique('Bob'));
    for (const member of [alice, bob]) member.client.joinChannel(channel);
    await bob.barrier();
    await alice.barrier();
    alice.client.sendChannelMessage(channel, 'posted');
    alice.client.sendMessage(bob.name, 'direct');
    await bob.untilMessages(2);
    await bob.barrier();
    const inbox = await bob.client.getInbox({ channel });
    assert.deepEqual(inbox.map((message) => [message.body, message.channel]), [['posted', channel]]);
  });

  test('queryMessages() with its filters and orders', async (t) => {
    const alice = await join(t, daemon, kNew, unique('Alice'));
    const bob = await join(t, daemon, kNew, unique('Bob'));
    const thread = unique('thread');
    const started = Date.now() - 5;
    alice.client.sendMessage(bob.name, 'one', 'message', { n: 1 }, thread);
    alice.client.sendMessage(bob.name, 'two');
    alice.client.broadcast('three');
    await bob.untilMessages(3);
    await bob.barrier();
    const bodies = (messages) => messages.map((message) => message.body);
    const from = alice.name;
    assert.deepEqual(bodies(await alice.client.queryMessages({ from })), ['three', 'two', 'one']);
    const ascending = await alice.client.queryMessages({ from, order: 'asc' });
    assert.deepEqual(bodies(ascending), ['one', 'two', 'three']);
    assert.deepEqual(bodies(await alice.client.queryMessages({ from, to: bob.name })), ['two', 'one']);
    assert.deepEqual(bodies(await alice.client.queryMessages({ thread })), ['one']);
    assert.deepEqual(bodies(await alice.client.queryMessages({ from, limit: 1 })), ['three']);
    assert.deepEqual(bodies(await alice.client.queryMessages({ from, sinceTs: started })), ['three', 'two', 'one']);
    assert.deepEqual(await alice.client.queryMessages({ from, sinceTs: Date.now() + 60_000 }), []);
    const [one, , three] = ascending;
    assert.deepEqual([one.from, one.to, one.thread, one.isBroadcast, one.replyCount, one.data],
      [alice.name, bob.name, thread, false, 0, { n: 1 }]);
    assert.equal(typeof one.id, 'string');
    assert.equal(typeof one.status, 'string');
    assert.equal(three.isBroadcast, true);
    bob.client.sendMessage(alice.name, 're: one', 'message', undefined, one.id);
    await alice.untilMessages(1);
    await alice.barrier();
    const again = await alice.client.queryMessages({ from, order: 'asc', limit: 1 });
    assert.deepEqual([again[0].body, again[0].replyCount], ['one', 1]);
  });

  test('listAgents() lists offline agents too, listConnectedAgents() only connected ones', async (t) => {
    const alice = await join(t, daemon, kNew, unique('Alice'));
    const bob = await join(t, daemon, kOld, unique('Bob'), { cli: 'codex' });
    await join(t, daemon, kNew, '__internal');
    const agents = await alice.client.listAgents();
    const row = agents.find((agent) => agent.name === bob.name);
    assert.deepEqual([row.cli, row.idle], ['codex', false]);
    assert.ok(!names(agents).includes('__internal'));
    assert.ok(names(await alice.client.listConnectedAgents()).includes(bob.name));
    bob.close();
    for (let tries = 0; names(await alice.client.listConnectedAgents()).includes(bob.name); ++tries)
      assert.ok(tries < 200);
    assert.equal((await alice.client.listAgents()).find((agent) => agent.name === bob.name)?.idle, true);
    assert.ok(!names(await alice.client.listAgents({ includeIdle: false })).includes(bob.name));
  });

  test('removeAgent() removes an agent, and on request its messages', async (t) => {
    const alice = await join(t, daemon, kNew, unique('Alice'));
    const bob = await join(t, daemon, kNew, unique('Bob'));
    bob.client.sendMessage(alice.name, 'remember me');
    await alice.untilMessages(1);
    bob.close();
    await alice.barrier();
    const removed = await alice.client.removeAgent(bob.name);
    assert.deepEqual([removed.success, removed.removed, typeof removed.message], [true, true, 'string']);
    assert.ok(!names(await alice.client.listAgents()).includes(bob.name));
    assert.equal((await alice.client.queryMessages({ from: bob.name })).length, 1);
    const carol = await join(t, daemon, kOld, unique('Carol'));
    carol.client.sendMessage(alice.name, 'forget me');
    await alice.untilMessages(2);
    carol.close();
    await alice.barrier();
    assert.equal((await alice.client.removeAgent(carol.name, { removeMessages: true })).removed, true);
    assert.equal((await alice.client.queryMessages({ from: carol.name })).length, 0);
    const unknown = await alice.client.removeAgent(unique('Missing'));
    assert.equal(unknown.removed, false);
    alice.client.sendMessage(bob.name, 'are you there?');
    await alice.untilError(new RegExp(bob.name));
  });

  test('getHealth()', async (t) => {
    const alice = await join(t, daemon, kNew, unique('Alice'));
    const health = await alice.client.getHealth();
    assert.ok(health.healthScore >= 0 && health.healthScore <= 100);
    assert.equal(typeof health.summary, 'string');
    for (const list of ['issues', 'recommendations', 'crashes', 'alerts']) assert.ok(Array.isArray(health[list]), list);
    for (const count of ['totalCrashes24h', 'totalAlerts24h', 'agentCount'])
      assert.equal(typeof health.stats[count], 'number', count);
    await alice.client.getHealth({ includeCrashes: false, includeAlerts: false });
  });

  test('getMetrics()', async (t) => {
    const alice = await join(t, daemon, kNew, unique('Alice'));
    const bob = await join(t, daemon, kNew, unique('Bob'));
    const all = await alice.client.getMetrics();
    assert.ok(names(all.agents).includes(bob.name));
    assert.ok(all.system.totalMemory > 0 && all.system.freeMemory > 0);
    const one = await alice.client.getMetrics({ agent: bob.name });
    assert.deepEqual(names(one.agents), [bob.name]);
    for (const field of ['pid', 'status', 'rssBytes', 'cpuPercent', 'uptimeMs'])
      assert.ok(field in one.agents[0], field);
  });

  test('a hundred concurrent requests get their own responses', async (t) => {
    const alice = await join(t, daemon, kNew, unique('Alice'));
    const responses = await Promise.all(Array.from({ length: 50 }, () =>
      Promise.all([alice.client.getStatus(), alice.client.listAgents()])));
    for (const [status, agents] of responses) {
      assert.ok(status.version);
      assert.ok(names(agents).includes(alice.name));
    }
  });
});
