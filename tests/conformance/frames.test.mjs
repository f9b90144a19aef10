import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { join, kNew, kOld, unique } from './harness/clients.mjs';
import { sharedDaemon } from './harness/shared.mjs';
import { envelope, frameOf, Wire } from './harness/wire.mjs';

const helloOf = (agent) => envelope('HELLO', { agent, capabilities: { ack: true, resume: true, max_inflight: 256 } });

describe('frames', () => {
  const daemon = sharedDaemon();

  const fatal = {
    'a length beyond 1 MiB': Buffer.from([0x00, 0x10, 0x00, 0x01]),
    'JSON that stops in the middle': frameOf('{"v":1,"type":"SEND"'),
    'text that is not UTF-8': frameOf(Buffer.concat([Buffer.from('{"v":1,"type":"LOG","id":"x","ts":1,"payload":{"data":"'),
      Buffer.from([0xc3, 0x28]), Buffer.from('"}}')])),
    'a hundred thousand brackets': frameOf(`{"v":1,"type":"LOG","id":"x","ts":1,"payload":{"data":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`),
    'an empty frame': frameOf(''),
  };
  for (const [description, bytes] of Object.entries(fatal)) {
    for (const when of ['before HELLO', 'after HELLO']) {
      // Before HELLO four zero bytes may also start a five-byte header; only a timeout decides.
      if (when === 'before HELLO' && bytes.length === 4 && bytes.readUInt32BE() === 0) continue;
      test(`${description} ${when}: a fatal ERROR, then the end, and other clients are unaffected`, async (t) => {
        const bystander = await join(t, daemon, kNew, unique('Bystander'));
        const wire = await Wire.connect(t, daemon.socket);
        if (when === 'after HELLO') await wire.hello(unique('Invalid'));
        wire.write(bytes);
        const error = await wire.untilType('ERROR');
        assert.equal(error.payload.code, 'BAD_REQUEST');
        assert.equal(error.payload.fatal, true);
        assert.ok(error.payload.message.length > 10 && error.payload.message.length < 400, error.payload.message);
        await wire.untilClosed();
        await bystander.barrier();
        assert.equal(bystander.client.state, 'READY');
      });
    }
  }

  const invalid = {
    'JSON that is no object': frameOf('[1,2]'),
    'a number': frameOf('5'),
    'no payload': frameOf('{"v":1,"type":"SEND","id":"x","ts":1,"to":"Bob"}'),
    'another version': frameOf('{"v":2,"type":"SEND","id":"x","ts":1,"to":"Bob","payload":{}}'),
  };
  for (const [description, bytes] of Object.entries(invalid)) {
    test(`${description} gets an ERROR`, async (t) => {
      const wire = await Wire.connect(t, daemon.socket);
      await wire.hello(unique('Invalid'));
      wire.write(bytes);
      assert.equal((await wire.untilType('ERROR')).payload.code, 'BAD_REQUEST');
    });
  }

  test('an unknown type does not end the connection', async (t) => {
    const wire = await Wire.connect(t, daemon.socket);
    await wire.hello(unique('Future'));
    wire.sendType('TELEPORT', {});
    await wire.request('STATUS', {});
    assert.equal(wire.closed, false);
  });

  test('known types that clients do not send do not end the connection', async (t) => {
    const wire = await Wire.connect(t, daemon.socket);
    await wire.hello(unique('Lister'));
    for (const type of ['STATE', 'SYNC_SNAPSHOT', 'SYNC_DELTA', 'CHANNEL_INFO', 'CHANNEL_MEMBERS', 'CHANNEL_TYPING',
      'PROPOSAL_CREATE', 'VOTE', 'NACK', 'BUSY', 'DELIVER', 'WELCOME']) wire.sendType(type, {});
    await wire.request('STATUS', {});
    assert.equal(wire.closed, false);
  });

  test('a stream split at every byte gives the same messages', async (t) => {
    const bob = await join(t, daemon, kOld, unique('Bob'));
    const wire = await Wire.connect(t, daemon.socket);
    const bytes = Buffer.concat([helloOf(unique('Slow')),
      envelope('SEND', { kind: 'message', body: 'split: ä€😀' }, { to: bob.name })]
      .map((frame) => frameOf(JSON.stringify(frame))));
    wire.socket.setNoDelay?.(true);
    for (const byte of bytes) await new Promise((resolve) => wire.socket.write(Buffer.from([byte]), resolve));
    await bob.untilMessages(1);
    assert.deepEqual(bob.bodies, ['split: ä€😀']);
  });

  test('the five-byte header is accepted and used in responses', async (t) => {
    const bob = await join(t, daemon, kNew, unique('Bob'));
    const wire = await Wire.connect(t, daemon.socket);
    wire.headerBytes = 5;
    wire.send = (frame) => { wire.write(Buffer.concat([Buffer.from([0]), frameOf(JSON.stringify(frame))])); return frame; };
    const name = unique('Five');
    await wire.hello(name);
    wire.sendType('SEND', { kind: 'message', body: 'five bytes' }, { to: bob.name });
    await bob.untilMessages(1);
    bob.client.sendMessage(name, 'and back');
    assert.equal((await wire.untilType('DELIVER')).payload.body, 'and back');
  });

  test('MessagePack is refused with a reason', async (t) => {
    const wire = await Wire.connect(t, daemon.socket);
    wire.headerBytes = 5;
    wire.write(Buffer.from([1, 0, 0, 0, 3, 0x81, 0xa1, 0x76]));
    await wire.untilClosed();
    const text = Buffer.concat([wire.pending, Buffer.from(JSON.stringify(wire.frames))]).toString();
    assert.match(text, /MessagePack/);
  });

  test('before HELLO other frames get an ERROR, and HELLO may follow', async (t) => {
    const wire = await Wire.connect(t, daemon.socket);
    wire.sendType('SUBSCRIBE', {}, { topic: 'x' });
    const error = await wire.untilType('ERROR');
    assert.deepEqual([error.payload.code, error.payload.fatal], ['BAD_REQUEST', false]);
    await wire.hello(unique('Late'));
  });

  test('a second HELLO is an ERROR that is not fatal', async (t) => {
    const wire = await Wire.connect(t, daemon.socket);
    await wire.hello(unique('Twice'));
    wire.send(helloOf(unique('Twice')));
    const error = await wire.untilType('ERROR');
    assert.deepEqual([error.payload.code, error.payload.fatal], ['BAD_REQUEST', false]);
    await wire.request('STATUS', {});
  });

  test('a SEND without HELLO is accepted only from a name without an owner', async (t) => {
    const bob = await join(t, daemon, kNew, unique('Bob'));
    const oneShot = await Wire.connect(t, daemon.socket);
    const name = unique('OneShot');
    oneShot.sendType('SEND', { kind: 'message', body: 'quick' }, { from: name, to: bob.name });
    await bob.untilMessages(1);
    assert.equal(bob.messages[0].from, name);
    const alice = await join(t, daemon, kNew, unique('Alice'));
    const forger = await Wire.connect(t, daemon.socket);
    forger.sendType('SEND', { kind: 'message', body: 'forged' }, { from: alice.name, to: bob.name });
    await forger.untilFrame((frame) => frame.type === 'ERROR' || frame.type === 'NACK', 'a refusal');
    alice.client.sendMessage(bob.name, 'marker');
    await bob.untilMessages(2);
    assert.deepEqual(bob.bodies, ['quick', 'marker']);
  });

  test('a forged from is replaced by the name of the connection', async (t) => {
    const bob = await join(t, daemon, kNew, unique('Bob'));
    const wire = await Wire.connect(t, daemon.socket);
    const name = unique('Sender');
    await wire.hello(name);
    wire.sendType('SEND', { kind: 'message', body: 'me' }, { from: 'Forged', to: bob.name });
    await bob.untilMessages(1);
    assert.equal(bob.messages[0].from, name);
  });

  test('the same SEND twice is one message', async (t) => {
    const bob = await join(t, daemon, kNew, unique('Bob'));
    const wire = await Wire.connect(t, daemon.socket);
    await wire.hello(unique('Repeater'), { capabilities: { send_ack: true } });
    const frame = envelope('SEND', { kind: 'message', body: 'once' }, { to: bob.name });
    wire.send(frame);
    wire.send(frame);
    wire.sendType('SEND', { kind: 'message', body: 'marker' }, { to: bob.name });
    await bob.untilMessages(2);
    assert.deepEqual(bob.bodies, ['once', 'marker']);
    await wire.untilFrame(() => wire.framesOf('ACK').length === 3, 'three ACKs');
    assert.deepEqual(wire.framesOf('ACK').slice(0, 2).map((ack) => ack.payload.ack_id), [frame.id, frame.id]);
  });

  test('BYE is answered with BYE and the end', async (t) => {
    const wire = await Wire.connect(t, daemon.socket);
    await wire.hello(unique('Leaving'));
    wire.sendType('BYE', {});
    await wire.untilType('BYE');
    await wire.untilClosed();
  });
});
