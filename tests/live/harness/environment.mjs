/// The paths that a live run needs; they are not part of this project.
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

/// Returns {program, tools, state, port}; calls `fail` with a message if one is missing.
export function readEnvironment(fail) {
  const program = resolve(process.env.RELAY_BIN ?? join(root, 'build/release/agent-relay'));
  const tools = process.env.LIVE_AGENTS;
  const state = process.env.AR_STATE ?? join(homedir(), '.cache/agent-relay-live');
  if (!tools || !existsSync(join(tools, 'model_server.py')))
    fail('LIVE_AGENTS must name the directory of model_server.py and prepare_home.sh');
  if (!existsSync(program)) fail(`no program at ${program}; build it or set RELAY_BIN`);
  mkdirSync(state, { recursive: true });
  return { program, tools, state, port: Number(process.env.PORT ?? 8_985) };
}
