import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { join, kNew, unique } from './harness/clients.mjs';
import { sharedDaemon } from './harness/shared.mjs';
import { until } from './harness/until.mjs';
import { Wire } from './harness/wire.mjs';

const kTimeoutMs = 20_000;

// A program that records its terminal input line by line.
function startRecorder(daemon) {
  const program = path.join(daemon.project, 'recorder');
  const input = path.join(daemon.project, unique('input'));
  writeFileSync(program, '#!/bin/sh\necho "ready"\nwhile read -r line; do echo "$line" >> "$1"; done\n',
    { mode: 0o755 });
  return { cli: `${program} ${input}`, input: () => (existsSync(input) ? readFileSync(input, 'utf8') : '') };
}

function runs(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch { return false; }
}

// A host is not a child of the test: stop it if the test fails.
const stopAfter = (t, pid) => t.after(() => { if (pid && runs(pid)) process.kill(pid); });

// Real programs in real terminals. Impossible requests fail at once, before the client's own timeout.
describe('spawning', () => {
  const daemon = sharedDaemon();

  test('2.1.14: spawn() runs a program, release() ends it', async (t) => {
    const alice = await join(t, daemon, kNew, unique('Alice'));
    const name = unique('Worker');
    const { cli } = startRecorder(daemon);
    const spawned = await alice.client.spawn({ name, cli, task: 'write', waitForReady: true, readyTimeoutMs: kTimeoutMs },
      kTimeoutMs);
    stopAfter(t, spawned.pid);
    assert.equal(spawned.success, true, spawned.error);
    assert.equal(spawned.name, name);
    assert.ok(runs(spawned.pid));
    assert.equal(spawned.ready, true);
    assert.equal(spawned.readyInfo.name, name);
    const inbox = await alice.client.queryMessages({ to: name });
    assert.deepEqual(inbox.map((message) => [message.from, message.body]), [[alice.name, 'write']]);
    const released = await alice.client.release(name, 'done', kTimeoutMs);
    assert.equal(released.success, true, released.error);
    await until(() => !runs(spawned.pid), 'the host has exited');
  });

  test('workers are listed, typed into in order, and released', async (t) => {
    const alice = await Wire.connect(t, daemon.socket);
    const spawner = unique('Alice');
    await alice.hello(spawner);
    const name = unique('Worker');
    const { cli, input } = startRecorder(daemon);
    const spawned = await alice.request('SPAWN', { name, cli, team: 'recorders' }, kTimeoutMs);
    stopAfter(t, spawned.payload.pid);
    assert.equal(spawned.payload.success, true, spawned.payload.error);
    assert.equal(spawned.payload.taskId, undefined);
    const listed = await alice.request('LIST_WORKERS', {});
    const row = listed.payload.workers.find((worker) => worker.name === name);
    assert.equal(row.cli, 'recorder');
    assert.equal(row.spawnerName, spawner);
    assert.equal(row.team, 'recorders');
    assert.equal(row.pid, spawned.payload.pid);
    assert.ok(Math.abs(Date.now() - row.spawnedAt) < 60_000);
    const again = await alice.request('SPAWN', { name, cli });
    assert.equal(again.payload.success, false);
    for (const data of ['he', 'll', 'o\r', 'you\r']) alice.sendType('SEND_INPUT', { name, data });
    await until(() => input() === 'hello\nyou\n', () => `the keys in order, not ${JSON.stringify(input())}`, kTimeoutMs);
    await until(() => alice.framesOf('SEND_INPUT_RESULT').length === 4, () => 'four responses', kTimeoutMs);
    const typed = alice.framesOf('SEND_INPUT_RESULT');
    assert.deepEqual(typed.map((frame) => frame.payload.success), [true, true, true, true]);
    const released = await alice.request('RELEASE', { name }, kTimeoutMs);
    assert.equal(released.payload.success, true, released.payload.error);
    assert.deepEqual((await alice.request('LIST_WORKERS', {})).payload.workers.filter((worker) => worker.name === name), []);
  });

  test('2.1.14: spawn() of a missing program fails with a reason', async (t) => {
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
      const response = await alice.request(type, payload);
      assert.equal(response.type, `${type}_RESULT`);
      assert.equal(response.payload.success, false);
      assert.ok(response.payload.error.length > 5);
    }
    const workers = await alice.request('LIST_WORKERS', {});
    assert.equal(workers.type, 'LIST_WORKERS_RESULT');
    assert.deepEqual(workers.payload.workers, []);
  });
});

// Agents outlive the daemon, which reconnects to them.
describe('spawned agents and a crash of the daemon', () => {
  const daemon = sharedDaemon();

  test('they outlive its crash, reconnect, and can be released', async (t) => {
    const before = await Wire.connect(t, daemon.socket);
    await before.hello(unique('Alice'));
    const name = unique('Worker');
    const { cli } = startRecorder(daemon);
    const spawned = await before.request('SPAWN', { name, cli }, kTimeoutMs);
    stopAfter(t, spawned.payload.pid);
    assert.equal(spawned.payload.success, true, spawned.payload.error);
    await daemon.crashAndRestart();
    assert.ok(runs(spawned.payload.pid));
    const after = await Wire.connect(t, daemon.socket);
    await after.hello(unique('Alice'));
    const row = (await after.request('LIST_WORKERS', {})).payload.workers[0];
    assert.equal(row.name, name);
    assert.equal(row.pid, spawned.payload.pid);
    const deadline = Date.now() + kTimeoutMs;
    for (let connected = false; !connected;) {
      const agents = (await after.request('LIST_CONNECTED_AGENTS', {})).payload.agents;
      connected = agents.some((agent) => agent.name === name);
      assert.ok(connected || Date.now() < deadline, `${name} has reconnected`);
    }
    const released = await after.request('RELEASE', { name }, kTimeoutMs);
    assert.equal(released.payload.success, true, released.payload.error);
    await until(() => !runs(spawned.payload.pid), 'the host has exited');
  });
});
