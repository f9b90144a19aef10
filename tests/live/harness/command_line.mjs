/// The command line of a live test: `CLI… [--option value]`.
import { parseArgs } from 'node:util';
import { kAgents } from './agents.mjs';

/// Returns {clis, values}; calls `usage` with a message on an error.
export function parseCommandLine(options, usage) {
  let parsed;
  try {
    parsed = parseArgs({ allowPositionals: true, options });
  } catch (error) { return usage(error.message); }
  const { values, positionals: clis } = parsed;
  for (const cli of clis) if (!kAgents[cli]) usage(`unknown agent "${cli}"`);
  return { clis, values };
}
