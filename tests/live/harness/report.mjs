/// Results as a table, and the missed bars.
import { kAgents } from './agents.mjs';

const kNotes = 6;  // of a cell, while running; the JSON holds all

const share = ({ of, good }) => (of === 0 ? '' : `${good}/${of}`);

function summarize(result) {
  const { messages, mode } = result;
  const count = (condition) => messages.filter(condition).length;
  const times = messages.map((message) => message.tookMs).filter(Number.isFinite).sort((a, b) => a - b);
  return {
    sent: count((message) => message.id),
    once: count((message) => message.arrivals === 1),
    shown: count((message) => message.arrivals > 0),
    asSent: count((message) => message.asSent),
    inTime: count((message) => message.inTime),
    history: count((message) => message.historyRight),
    median: times[Math.floor(times.length / 2)],
    max: times.at(-1),
    held: mode === 'manual' || Boolean(result.cannot),
    interfaces: [...new Set(messages.map((message) => interfaceOf(message.history)))].join(', '),
  };
}

/// From the reason of the history: "via inbox; its transcript shows it". Other reasons describe the screen.
function interfaceOf({ state, reason = '' }) {
  if (state !== 'delivered') return state ?? 'not sent';
  return /^via ([a-z]+)/.exec(reason)?.[1] ?? 'terminal';
}

/// A description of every bar that this cell misses.
export function failuresOf(result) {
  const { messages, mode, dialogs, drafts, replies, held } = result;
  const it = summarize(result);
  const missed = [];
  const bar = (good, description) => { if (!good) missed.push(description); };
  bar(!result.error, `error: ${result.error}`);
  bar(it.sent === messages.length, `${messages.length - it.sent} not accepted`);
  bar(result.cannot || messages.length === result.wanted, `stopped after ${messages.length}`);
  bar(held.good === held.of, `the situation held in ${share(held)}`);
  bar(!result.cannot || kAgents[result.cli].unsupported.includes(mode), result.cannot);
  if (it.held) {
    bar(it.shown === 0, `${it.shown} arrived although held`);
  } else {
    bar(it.once === messages.length, `${it.once} of ${messages.length} exactly once`);
    bar(it.asSent === messages.length, `${it.asSent} of ${messages.length} as sent`);
    bar(it.inTime === messages.length, `${it.inTime} of ${messages.length} in time`);
  }
  bar(it.history === messages.length, `the history is correct for ${it.history} of ${messages.length}`);
  bar(dialogs.good === dialogs.of, `dialogs untouched: ${share(dialogs)}`);
  bar(drafts.good === drafts.of, `drafts untouched: ${share(drafts)}`);
  bar(mode === 'immediate' || replies.good === replies.of, `replies complete: ${share(replies)}`);
  bar(!result.harm, 'a message was executed or echoed');
  return missed;
}

export function progressLine(result) {
  const { cli, mode, situation, notes } = result;
  const it = summarize(result);
  const missed = failuresOf(result);
  const outcome = missed.length ? `MISSED: ${missed.join('; ')}` : 'good';
  const arrivals = `${it.once} of ${it.sent} once, median ${it.median} ms, via ${it.interfaces}`;
  const what = result.cannot || (it.held ? `${it.sent} held` : arrivals);
  return [`${cli} ${mode} ${situation}: ${what}; ${outcome}`, ...notes.slice(0, kNotes).map((note) => `      ${note}`)].join('\n');
}

export function table(results) {
  const head = ['agent', 'mode', 'situation', 'sent', 'exactly once', 'as sent', 'in time', 'dialog untouched',
    'draft untouched', 'replies complete', 'history correct', 'median ms', 'max ms', 'via', ''];
  const rows = results.map((result) => {
    const it = summarize(result);
    const once = result.cannot ? 'cannot' : it.held ? `held ${it.sent - it.shown}` : it.once;
    return [kAgents[result.cli].title, result.mode, result.situation, it.sent, once,
      it.held ? '' : it.asSent, it.held ? '' : it.inTime, share(result.dialogs), share(result.drafts),
      result.mode === 'immediate' ? '' : share(result.replies), it.history, it.median ?? '', it.max ?? '', it.interfaces,
      failuresOf(result).length ? 'missed' : 'good'];
  });
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
