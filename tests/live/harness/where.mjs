/// Where the things are that a live run needs; none of them is part of this project.
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

/// {program, tools, state, port}, or one sentence about what is missing by `refuse`.
export function where(refuse) {
  const program = resolve(process.env.RELAY_BIN ?? join(root, 'build/release/agent-relay'));
  const tools = process.env.LIVE_AGENTS;
  const state = process.env.AR_STATE ?? join(homedir(), '.cache/agent-relay-live');
  if (!tools || !existsSync(join(tools, 'model_server.py')))
    refuse('LIVE_AGENTS must name the directory of model_server.py and prepare_home.sh');
  if (!existsSync(program)) refuse(`there is no program at ${program}; build it or set RELAY_BIN`);
  mkdirSync(state, { recursive: true });
  return { program, tools, state, port: Number(process.env.PORT ?? 8_985) };
}
