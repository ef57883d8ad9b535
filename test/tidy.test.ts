import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename, dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importsOf, roomOf, type SourceFile, sourceFiles, withoutComments } from '../tools/source-files.ts'

const BELOW_HOSTS = [
  'alarm',
  'config',
  'contracts',
  'engine',
  'json',
  'library',
  'log',
  'redaction',
  'server',
  'stores',
  'stores/postgres',
  'stores/sqlite',
  'targets',
  'time',
  'watch',
  'xstate',
]

/**
 * Which rooms a room may import. Free to all: `error.ts`. The engine sees the ports alone, never a store or a target;
 * a store is a room of its own beside the port it keeps.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  time: [],
  json: [],
  redaction: [],
  config: ['redaction', 'time'],
  alarm: ['json', 'time'],
  stores: ['alarm', 'time'],
  targets: ['alarm', 'time'],
  'stores/postgres': ['alarm', 'stores', 'time'],
  'stores/sqlite': ['alarm', 'stores', 'time'],
  log: ['alarm', 'stores', 'time'],
  engine: ['alarm', 'stores', 'targets', 'time'],
  library: ['alarm', 'engine', 'log', 'stores', 'targets', 'time'],
  // A test bench is a host of its own: it opens Wakeful as a user would, on another clock.
  testing: ['alarm', 'engine', 'hosts', 'library', 'log', 'stores', 'stores/sqlite', 'targets', 'time'],
  watch: ['alarm', 'engine', 'library', 'log', 'stores', 'targets', 'time'],
  xstate: ['alarm', 'engine', 'library', 'log', 'stores', 'targets', 'time'],
  contracts: ['alarm', 'library', 'time'],
  // All but json and a side door of time by their types alone: see below.
  client: ['alarm', 'contracts', 'json', 'library', 'time'],
  server: [
    'alarm',
    'contracts',
    'json',
    'library',
    'log',
    'redaction',
    'stores',
    'targets',
    'time',
    'watch',
    'xstate',
  ],
  hosts: [...BELOW_HOSTS],
  package: ['alarm', 'hosts', 'library', 'time'],
  cli: [...BELOW_HOSTS, 'client', 'hosts', 'package'],
}

/** Doors beside a room's front door, for those who must not carry the whole room along. */
const SIDE_DOORS: readonly string[] = ['src/time/durations/index.ts']
/** What the client loads where it runs: it goes to browsers. */
const CLIENT_LOADS = /^src\/(?:client\/|json\/|error\.ts|time\/(?:durations|duration|every-step|text)\.ts)/

/** Rooms that learn the time from the clock port alone, so that the simulator and a Durable Object can run them. */
const CLOCK_PORT_ONLY = ['time', 'alarm', 'engine', 'library', 'log', 'targets']
const SYSTEM_CLOCK = 'src/hosts/node/system-clock.ts'
const LINES_MAX = 400
const LINES_WARN = 250
const TEST_SLEEP_MS_MAX = 50
/** Tests in src that may really sleep, each with its reason. */
const MAY_SLEEP: Readonly<Record<string, string>> = {}

const all = sourceFiles(['src', 'test', 'bench', 'examples', 'tools'])
const src = all.filter((file) => file.path.startsWith('src/'))
const isTest = (file: SourceFile) => file.path.endsWith('.test.ts')
const production = src.filter((file) => !isTest(file))

describe('rooms', () => {
  it('import one way', () => {
    const wrong = production.flatMap((file) =>
      importsOf(file).flatMap(({ line, path }) => {
        const [from, to] = [roomOf(file.path), roomOf(path)]
        if (to === null || from === to || MAY_IMPORT[from ?? '']?.includes(to)) return []
        const may = MAY_IMPORT[from ?? '']?.join(', ') || 'none'
        return [`${file.path}:${line} (room ${from}) imports ${path} (room ${to}); it may import ${may}`]
      }),
    )
    expect(wrong).toEqual([])
  })

  it('are entered by their front door', () => {
    const wrong = src.flatMap((file) =>
      importsOf(file).flatMap(({ line, path }) => {
        const to = roomOf(path)
        const isDoor =
          basename(path) === 'index.ts' || to === null || to === 'package' || SIDE_DOORS.includes(path)
        if (isDoor || roomOf(file.path) === to) return []
        return [
          `${file.path}:${line} reaches past the front door of ${to}: import ${to}/index.ts, not ${path}`,
        ]
      }),
    )
    expect(wrong).toEqual([])
  })

  it('the client loads nothing but itself and small pure parts', () => {
    const loaded = new Set(['src/client/index.ts'])
    const wrong: string[] = []
    for (const path of loaded) {
      const code = stripTypeScriptTypes(readFileSync(path, 'utf8'))
      for (const [, name] of code.matchAll(
        /^(?:import|export|\})[^'\n]* from '([^']+)'|\bimport\('([^']+)'/gm,
      )) {
        const to = name?.startsWith('.') === true ? normalize(join(dirname(path), name)) : String(name)
        if (CLIENT_LOADS.test(to)) loaded.add(to)
        else wrong.push(`${path} loads ${to}`)
      }
    }
    expect(wrong).toEqual([])
    expect([...loaded].filter((path) => path.startsWith('src/client/')).length).toBeGreaterThan(8)
  })

  it('are all known to this test', () => {
    const rooms = new Set(src.map((file) => roomOf(file.path)).filter((room) => room !== null))
    expect([...rooms].filter((room) => MAY_IMPORT[room] === undefined)).toEqual([])
  })

  it('time, alarm and engine compile without the types of Node', () => {
    expect(output('tsc', ['-p', 'tsconfig.pure.json', '--noEmit'])).toBe('')
  })

  it('the client compiles with the types of a browser and without those of Node', () => {
    expect(output('tsc', ['-p', 'tsconfig.client.json', '--noEmit'])).toBe('')
  })
})

describe('time', () => {
  const clocks = /\bDate\.now\b|\bnew Date\(\)|\bTemporal\.Now\b|\bperformance\.now\b/
  const timers = /\b(?:setTimeout|setInterval)\b/

  it('is read from the system clock in one file only', () => {
    const others = production.filter((file) => file.path !== SYSTEM_CLOCK)
    expect(found(others, clocks, 'reads a clock of its own: take it from the clock port')).toEqual([])
  })

  it('is waited for through the clock port', () => {
    const rooms = production.filter((file) => CLOCK_PORT_ONLY.includes(roomOf(file.path) ?? ''))
    expect(found(rooms, timers, 'waits past the clock port: use clock.setTimer')).toEqual([])
  })

  it('is never asked of the database', () => {
    const sql =
      /(?<![.\w])now\(\)(?! *[:{])|\bCURRENT_(?:TIMESTAMP|DATE|TIME)\b|\bunixepoch\(\)|\b(?:datetime|date|time|julianday|strftime|unixepoch)\([^)]*'now'/i
    const stores = production.filter((file) => file.path.startsWith('src/stores/'))
    expect(found(stores, sql, 'lets SQL read the clock: bind the moment instead')).toEqual([])
  })

  it('is not slept away by tests beside their source', () => {
    const slow = src.filter(isTest).flatMap((file) => {
      if (MAY_SLEEP[file.path] !== undefined) return []
      return sleepsOf(file).map(
        ({ line, ms }) => `${file.path}:${line} sleeps ${ms} ms: use the virtual clock`,
      )
    })
    expect(slow).toEqual([])
  })
})

describe('files', () => {
  it(`have at most ${LINES_MAX} lines`, () => {
    const long = all.filter((file) => file.lines.length > LINES_WARN)
    const told = long.map((file) => `${file.path}: ${file.lines.length} lines`)
    if (told.length > 0) console.info(`over ${LINES_WARN} lines, worth a look:\n  ${told.join('\n  ')}`)
    expect(long.filter((file) => file.lines.length > LINES_MAX).map(({ path }) => path)).toEqual([])
  })

  it('are named for what is in them, in kebab-case', () => {
    const vague = /^(?:utils?|helpers?|common|types?|interfaces?|misc|shared|constants)(?:[.-]|$)/
    const kebab = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+)*$/
    const wrong = all.filter(({ path }) => vague.test(basename(path)) || !kebab.test(basename(path)))
    expect(wrong.map(({ path }) => path)).toEqual([])
  })

  it('leave nothing to do for later', () => {
    // Written in two halves, so that this file does not find itself.
    const later = new RegExp(`\\b(?:TO${'DO'}|FIX${'ME'}|XX${'X'}|HA${'CK'})\\b`)
    const wrong = all.flatMap((file) =>
      file.lines.flatMap((line, index) =>
        later.test(line) ? [`${file.path}:${index + 1}: ${line.trim()}`] : [],
      ),
    )
    expect(wrong).toEqual([])
  })

  it('name tests by behaviour, not by "should" or "works"', () => {
    const weak = /\b(?:it|test)\(\s*['"`](?:should\b|works?['"`]|test\b)/
    expect(found(all.filter(isTest), weak, 'says nothing of what happens')).toEqual([])
  })
})

/** The places where a pattern occurs outside comments, as messages. */
function found(files: readonly SourceFile[], pattern: RegExp, why: string): string[] {
  return files.flatMap((file) =>
    withoutComments(file).flatMap((line, index) => {
      const match = pattern.exec(line)
      return match === null ? [] : [`${file.path}:${index + 1} ${why} (${match[0]})`]
    }),
  )
}

/** Real sleeps of a known length that is too long. */
function sleepsOf(file: SourceFile): { line: number; ms: number }[] {
  const sleep = /\b(?:setTimeout|sleep|delay|wait)\((?:[^;]*?,\s*)?([\d_]+)\s*\)/g
  return withoutComments(file).flatMap((text, index) =>
    [...text.matchAll(sleep)]
      .map((match) => ({ line: index + 1, ms: Number(match[1]!.replaceAll('_', '')) }))
      .filter(({ ms }) => ms > TEST_SLEEP_MS_MAX),
  )
}

function output(command: string, args: readonly string[]): string {
  try {
    return execFileSync(`node_modules/.bin/${command}`, args, { encoding: 'utf8' })
  } catch (thrown) {
    return (thrown as { stdout?: string }).stdout || String(thrown)
  }
}
