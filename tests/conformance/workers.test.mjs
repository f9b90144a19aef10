import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { join, kNew, unique } from './harness/clients.mjs';
import { sharedDaemon } from './harness/shared.mjs';
import { until } from './harness/until.mjs';
import { Wire } from './harness/wire.mjs';

const kPatienceMs = 20_000;

// A program that writes down, line by line, what is typed into its terminal.
function scribe(daemon) {
  const program = path.join(daemon.project, 'scribe');
  const heard = path.join(daemon.project, unique('heard'));
  writeFileSync(program, '#!/bin/sh\necho "scribe is here"\nwhile read -r line; do echo "$line" >> "$1"; done\n',
    { mode: 0o755 });
  return { cli: `${program} ${heard}`, heard: () => (existsSync(heard) ? readFileSync(heard, 'utf8') : '') };
}

function runs(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch { return false; }
}

// A host is nobody's child: should a test fail, it is ended here.
const endAfter = (t, pid) => t.after(() => { if (pid && runs(pid)) process.kill(pid); });

// Real agents in real terminals; and what cannot be is told at once, so that no client waits for its own timeout.
describe('spawning', () => {
  const daemon = sharedDaemon();

  test('2.1.14: spawn() runs a program, release() ends it', async (t) => {
    const alice = await join(t, daemon, kNew, unique('Alice'));
    const name = unique('Worker');
    const { cli } = scribe(daemon);
    const spawned = await alice.client.spawn({ name, cli, task: 'write', waitForReady: true, readyTimeoutMs: kPatienceMs },
      kPatienceMs);
    endAfter(t, spawned.pid);
    assert.equal(spawned.success, true, spawned.error);
    assert.equal(spawned.name, name);
    assert.ok(runs(spawned.pid));
    assert.equal(spawned.ready, true);
    assert.equal(spawned.readyInfo.name, name);
    const inbox = await alice.client.queryMessages({ to: name });
    assert.deepEqual(inbox.map((message) => [message.from, message.body]), [[alice.name, 'write']]);
    const released = await alice.client.release(name, 'done', kPatienceMs);
    assert.equal(released.success, true, released.error);
    await until(() => !runs(spawned.pid), 'the host is gone');
  });

  test('workers are listed, typed into in order, and released', async (t) => {
    const alice = await Wire.connect(t, daemon.socket);
    const spawner = unique('Alice');
    await alice.hello(spawner);
    const name = unique('Worker');
    const { cli, heard } = scribe(daemon);
    const spawned = await alice.ask('SPAWN', { name, cli, team: 'scribes' }, kPatienceMs);
    endAfter(t, spawned.payload.pid);
    assert.equal(spawned.payload.success, true, spawned.payload.error);
    assert.equal(spawned.payload.taskId, undefined);
    const listed = await alice.ask('LIST_WORKERS', {});
    const row = listed.payload.workers.find((worker) => worker.name === name);
    assert.equal(row.cli, 'scribe');
    assert.equal(row.spawnerName, spawner);
    assert.equal(row.team, 'scribes');
    assert.equal(row.pid, spawned.payload.pid);
    assert.ok(Math.abs(Date.now() - row.spawnedAt) < 60_000);
    const again = await alice.ask('SPAWN', { name, cli });
    assert.equal(again.payload.success, false);
    for (const data of ['he', 'll', 'o\r', 'you\r']) alice.say('SEND_INPUT', { name, data });
    await until(() => heard() === 'hello\nyou\n', () => `the keys in order, not ${JSON.stringify(heard())}`, kPatienceMs);
    await until(() => alice.framesOf('SEND_INPUT_RESULT').length === 4, () => 'four answers', kPatienceMs);
    const typed = alice.framesOf('SEND_INPUT_RESULT');
    assert.deepEqual(typed.map((frame) => frame.payload.success), [true, true, true, true]);
    const released = await alice.ask('RELEASE', { name }, kPatienceMs);
    assert.equal(released.payload.success, true, released.payload.error);
    assert.deepEqual((await alice.ask('LIST_WORKERS', {})).payload.workers.filter((worker) => worker.name === name), []);
  });

  test('2.1.14: spawn() of something that is not there fails with a reason', async (t) => {
    const alice = await join(t, daemon, kNew, unique('Alice'));
    for (const waitForReady of [false, true]) {
      const result = await alice.client.spawn({ name: unique('Worker'), cli: 'no-such-agent-cli', task: 'work',
        waitForReady }, 5_000);
      assert.equal(result.success, false);
      assert.ok(result.error.length > 5, result.error);
    }
  });

  test('2.1.14: release() of an unknown worker fails with a reason', async (t) => {
    const alice = await join(t, daemon, kNew, unique('Alice'));
    const result = await alice.client.release(unique('Worker'), 'not needed', 5_000);
    assert.equal(result.success, false);
    assert.ok(result.error.length > 5, result.error);
  });

  test('the worker frames of the 2.3 line are answered', async (t) => {
    const alice = await Wire.connect(t, daemon.socket);
    await alice.hello(unique('Alice'));
    for (const [type, payload] of [['SEND_INPUT', { name: 'Ghost', data: 'y' }],
      ['SET_MODEL', { name: 'Ghost', model: 'm' }]]) {
      const answer = await alice.ask(type, payload);
      assert.equal(answer.type, `${type}_RESULT`);
      assert.equal(answer.payload.success, false);
      assert.ok(answer.payload.error.length > 5);
    }
    const workers = await alice.ask('LIST_WORKERS', {});
    assert.equal(workers.type, 'LIST_WORKERS_RESULT');
    assert.deepEqual(workers.payload.workers, []);
  });
});

// Agents do not end with the daemon, and it finds them again.
describe('spawned agents and the end of the daemon', () => {
  const daemon = sharedDaemon();

  test('they outlive its crash, reconnect, and can be released', async (t) => {
    const before = await Wire.connect(t, daemon.socket);
    await before.hello(unique('Alice'));
    const name = unique('Worker');
    const { cli } = scribe(daemon);
    const spawned = await before.ask('SPAWN', { name, cli }, kPatienceMs);
    endAfter(t, spawned.payload.pid);
    assert.equal(spawned.payload.success, true, spawned.payload.error);
    await daemon.crashAndRestart();
    assert.ok(runs(spawned.payload.pid));
    const after = await Wire.connect(t, daemon.socket);
    await after.hello(unique('Alice'));
    const row = (await after.ask('LIST_WORKERS', {})).payload.workers[0];
    assert.equal(row.name, name);
    assert.equal(row.pid, spawned.payload.pid);
    const giveUp = Date.now() + kPatienceMs;
    for (let here = false; !here;) {
      const agents = (await after.ask('LIST_CONNECTED_AGENTS', {})).payload.agents;
      here = agents.some((agent) => agent.name === name);
      assert.ok(here || Date.now() < giveUp, `${name} is back`);
    }
    const released = await after.ask('RELEASE', { name }, kPatienceMs);
    assert.equal(released.payload.success, true, released.payload.error);
    await until(() => !runs(spawned.payload.pid), 'the host is gone');
  });
});
