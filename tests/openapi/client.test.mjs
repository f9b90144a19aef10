// The generated client against a running server, with one agent, using only the OpenAPI document.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

const program = process.env.RELAY_BIN;
const client = createRequire(import.meta.url)(process.env.RELAY_CLIENT);
const run = promisify(execFile);
const { AgentsV1Service, EventsService, CostsService, SessionsService, SystemService, WorkspacesService, ApiError } = client;
let directory, relay;

before(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'relay-openapi-'));
  const project = path.join(directory, 'project');
  await mkdir(project);
  const env = { ...process.env, AGENT_RELAY_HOME: path.join(directory, 'home'), AGENT_RELAY_API_TOKEN: 'a-token-for-this-test' };
  relay = async (...args) => (await run(program, args, { cwd: project, env })).stdout;
  await relay('up');
  client.OpenAPI.BASE = JSON.parse(await relay('status', '--json')).http;
  client.OpenAPI.TOKEN = 'a-token-for-this-test';
});
after(async () => {
  await relay('release', 'Bob').catch(() => {});
  await relay('down', '--all');
  await rm(directory, { recursive: true, force: true });
});

const rejectsWith = async (promise, status) => {
  await assert.rejects(promise, (error) => {
    assert(error instanceof ApiError, String(error));
    assert.equal(error.status, status, JSON.stringify(error.body));
    assert(error.body.error.code.length > 0 && error.body.error.message.length > 10, JSON.stringify(error.body));
    return true;
  });
};

test('the server is healthy and lists its workspace', async () => {
  assert.equal((await SystemService.getHealth()).status, 'ok');
  const { workspaces } = await WorkspacesService.listWorkspaces();
  assert.equal(workspaces.length, 1);
});

test('an agent is started, messaged, paused and stopped with a summary', async () => {
  const session = await SessionsService.createSession({ requestBody: { agent: 'Bob', cli: 'cat' } });
  assert.equal(session.agentName, 'Bob');
  const sent = await SessionsService.sendSessionMessage({ sessionId: session.sessionId, requestBody: { message: 'hello' } });
  assert.equal(sent.success, true);
  assert.match(sent.messageId, /^[0-9a-z]{8}$/);
  const { agents } = await AgentsV1Service.listAgents({});
  assert(agents.some((agent) => agent.name === 'Bob' && agent.status === 'running'));
  await AgentsV1Service.pauseAgent({ name: 'Bob', requestBody: { reason: 'for a moment' } });
  await AgentsV1Service.resumeAgent({ name: 'Bob', requestBody: {} });
  await AgentsV1Service.sendInput({ name: 'Bob', requestBody: { input: 'typed\n' } });
  const ended = await SessionsService.endSession({ sessionId: session.sessionId });
  assert.equal(ended.success, true);
  assert(ended.summary.duration > 0);
});

test('costs and events can be read', async () => {
  await relay('send', 'Carol', 'hi').catch(() => {});
  const costs = await CostsService.getCosts({});
  assert.equal(costs.total.totalTokens, 0);
  const page = await EventsService.listEvents({});
  assert(page.events.some((event) => event.type === 'session.started'));
  assert.equal(page.events[0]._seq, 1);
});

test('errors have a status, a code and a message', async () => {
  await rejectsWith(AgentsV1Service.getAgentByName({ name: 'Missing' }), 404);
  await rejectsWith(SessionsService.createSession({ requestBody: { agent: 'No Name', cli: 'cat' } }), 400);
  client.OpenAPI.TOKEN = 'another';
  await rejectsWith(AgentsV1Service.listAgents({}), 401);
});
