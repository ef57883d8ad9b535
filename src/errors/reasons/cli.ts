import { reasons } from '../reason.ts'

/** Wrong use of the command line, which only the command line refuses. */
export const CLI_REASONS = reasons('invalid_request', {
  'cli.store_and_server': '<db> is a store and <url> is a server. Use one of them.',
  'cli.store_only':
    '{command} works on a store only, and {from} names a server. Run it on a machine that can open the store, with <db>.',
  'cli.all_and_one': '{all} reads the alarms of all of them. Leave {field} out.',
  'cli.needs_store': '{field} needs a store. Leave it out, or <url>.',
  'cli.server_url': '{field} must be the URL of a server, such as http://127.0.0.1:7420, not {value}.',
  'cli.time_missing':
    "The time is missing. Use WHEN (such as 'tomorrow at 9am'), <cron>, <every>, <rrule>, <unix> or <delay>.",
  'cli.snooze_time_missing': "The time is missing. Use WHEN, such as 10m or 'tomorrow at 9am'.",
  'cli.seconds_as_text':
    "'{text}' is not a time in plain language. For seconds since 1970, use --unix {text}.",
  'cli.cron_as_text': "'{text}' is not a time in plain language. For a cron expression, use --cron '{text}'.",
  'cli.misfire_needs_all': '{field} needs --misfire all. Add it.',
  'cli.target_not_json': '{field} {value} is not JSON: {cause}',
  'cli.prefix_of_several': "'{name}' is a prefix of {count} ids ({known}). Use more characters.",
  'cli.key_of_several': (params: { key: string; count: number; known: readonly string[]; more: number }) => {
    const more = params.more === 0 ? '' : `, and ${params.more} more`
    return `${params.count} owners have an alarm with the key '${params.key}': ${params.known.join(', ')}${more}. Name one by its id, or its owner with --tenant and --owner.`
  },
  'cli.prefix_of_too_many': "There are too many alarms to search for '{name}'. Use the whole id.",
  'cli.cancel_which': 'Name the alarms by their ids, by <subject>, or by <key>.',
  'cli.one_id': '{field} needs exactly one id. Cancel the alarms one by one.',
  'cli.one_or_many':
    'Name one alarm by its id or by <key>, or many by <subject>, by <label>, or with <all>. <dryRun> is for many.',
  'cli.reset_unconfirmed': 'reset cancels every pending alarm. Add --yes to confirm.',
  'cli.unknown_key': 'There is no key {name}. List the ids with `keys list`.',
  'cli.calendar_empty': '{field} means a calendar without days. Leave it out, or leave the days out.',
  'cli.calendar_days':
    'Name the days off: dates such as 2026-12-25 or 2026-12-24..2026-12-31, --ics FILE, --weekend sat,sun, or --empty.',
  'cli.bench_store': 'bench uses its own temporary SQLite store in <dir>. Leave {field} out.',
  'cli.no_folder': 'There is no folder {folder}. Create it, or name another.',
})
