import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { join, kNew, kOld, unique } from './harness/clients.mjs';
import { sharedDaemon } from './harness/shared.mjs';

// The outcome of a proposal of three participants, reached with the last vote listed.
const cases = [
  { type: 'majority', votes: ['approve', 'approve'], outcome: 'APPROVED' },
  { type: 'majority', votes: ['reject', 'reject'], outcome: 'REJECTED' },
  { type: 'majority', votes: ['approve', 'reject', 'abstain'], outcome: 'NO_CONSENSUS' },
  { type: 'supermajority', votes: ['approve', 'approve', 'approve'], outcome: 'APPROVED' },
  { type: 'supermajority', options: { threshold: 0.6 }, votes: ['approve', 'reject', 'approve'], outcome: 'APPROVED' },
  { type: 'supermajority', votes: ['approve', 'reject'], outcome: 'REJECTED' },
  { type: 'unanimous', votes: ['approve', 'approve', 'approve'], outcome: 'APPROVED' },
  { type: 'unanimous', votes: ['reject'], outcome: 'REJECTED' },
  { type: 'weighted', votes: ['approve', 'approve'], outcome: 'APPROVED' },
  { type: 'quorum', options: { quorum: 2 }, votes: ['approve', 'approve'], outcome: 'APPROVED' },
  { type: 'quorum', options: { quorum: 3 }, votes: ['reject', 'reject', 'approve'], outcome: 'REJECTED' },
];

describe('consensus', () => {
  const daemon = sharedDaemon();

  async function propose(t, options) {
    const proposer = await join(t, daemon, kNew, unique('Proposer'));
    const voters = [];
    for (const _ of [1, 2, 3]) voters.push(await join(t, daemon, kNew, unique('Voter')));
    const title = unique('Ship it');
    assert.equal(proposer.client.createProposal({ title, description: 'Should we?\nReally?',
      participants: voters.map((voter) => voter.name), ...options }), true);
    const ids = [];
    for (const voter of voters) {
      await voter.untilMessages(1);
      const { from, payload } = voter.messages[0];
      assert.equal(from, proposer.name);
      assert.equal(payload.kind, 'action');
      assert.equal(payload.data._isConsensusMessage, true);
      assert.match(payload.body, new RegExp(title));
      assert.match(payload.body, /Should we\?/);
      ids.push(/ID: (\S+)/.exec(payload.body)?.[1]);
    }
    assert.ok(ids[0], 'the body holds ID: <id>');
    assert.equal(new Set(ids).size, 1);
    return { proposer, voters, proposalId: ids[0] };
  }

  const consensusMessages = (client) => client.messages.filter(({ from }) => from === '_consensus');
  const results = (client) => consensusMessages(client).filter(({ payload }) => /CONSENSUS RESULT/.test(payload.body));

  async function expectResult(clients, outcome, ms) {
    for (const client of clients) {
      await client.until(() => results(client).length === 1, 'the result', ms);
      assert.match(results(client)[0].payload.body, outcome);
    }
  }

  for (const { type, options, votes, outcome } of cases) {
    test(`2.1.14: ${type} with ${votes.join(', ')} of three is ${outcome}`, async (t) => {
      const { proposer, voters, proposalId } = await propose(t, { consensusType: type, ...options });
      for (const [index, value] of votes.entries()) {
        assert.equal(voters[index].client.vote({ proposalId, value, reason: 'a reason' }), true);
        await voters[index].barrier();
      }
      await expectResult([proposer, ...voters], new RegExp(`\\b${outcome}\\b`));
      for (const client of [proposer, ...voters]) assert.deepEqual(client.errors, []);
    });
  }

  // Published programs take every message from _consensus for a result.
  test('2.1.14: _consensus sends only results', async (t) => {
    const { proposer, voters, proposalId } = await propose(t);
    for (const voter of voters.slice(0, 2)) voter.client.vote({ proposalId, value: 'approve' });
    await expectResult([proposer, ...voters], /\bAPPROVED\b/);
    for (const client of [proposer, ...voters])
      assert.deepEqual(consensusMessages(client).map(({ payload }) => payload.body.split('\n')[0].split(':')[0]),
        ['CONSENSUS RESULT'], client.name);
  });

  test('2.1.14: all participants are notified of an expired proposal', async (t) => {
    const { proposer, voters, proposalId } = await propose(t, { timeoutMs: 700 });
    await expectResult([proposer, ...voters], /NO_CONSENSUS|EXPIRED/, 5_000);
    voters[1].client.vote({ proposalId, value: 'approve' });
    await voters[1].untilError(/./);
  });

  test('2.1.14: votes that cannot count are errors', async (t) => {
    const { proposer, voters, proposalId } = await propose(t);
    const outsider = await join(t, daemon, kNew, unique('Outsider'));
    outsider.client.vote({ proposalId, value: 'approve' });
    assert.equal((await outsider.untilError(/./)).fatal, false);
    voters[0].client.vote({ proposalId: 'no-such-proposal', value: 'approve' });
    await voters[0].untilError(/no-such-proposal/);
    await proposer.barrier();
    assert.equal(results(proposer).length, 0);
  });

  test('1.6.0 clients take part with text commands', async (t) => {
    const proposer = await join(t, daemon, kOld, unique('Proposer'));
    const voter = await join(t, daemon, kOld, unique('Voter'));
    proposer.client.sendMessage('_consensus',
      `PROPOSE: Text commands\nTYPE: majority\nPARTICIPANTS: ${voter.name}\nDESCRIPTION: still work`, 'action');
    await voter.untilMessages(1);
    const id = /ID: (\S+)/.exec(voter.bodies[0])[1];
    voter.client.sendMessage('_consensus', `VOTE ${id} approve fine by me`, 'action');
    await expectResult([proposer, voter], /\bAPPROVED\b/);
  });
});
