import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename, dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importsOf, moduleOf, type SourceFile, sourceFiles, withoutComments } from '../tools/source-files.ts'

const BELOW_HOSTS = [
  'alarm',
  'config',
  'contracts',
  'engine',
  'json',
  'library',
  'log',
  'redaction',
  'seeds',
  'server',
  'stores',
  'stores/postgres',
  'stores/sharded',
  'stores/sqlite',
  'targets',
  'time',
]

/**
 * Which modules a module may import. Every module may import `error.ts` and `errors`. The engine imports the ports only, never a
 * store or a target; each store is a module of its own beside the port it implements.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  time: [],
  json: [],
  redaction: [],
  seeds: [],
  config: ['redaction', 'time'],
  alarm: ['json', 'seeds', 'time'],
  stores: ['alarm', 'time'],
  targets: ['alarm', 'json', 'seeds', 'stores', 'time'],
  'stores/sharded': ['alarm', 'stores', 'time'],
  'stores/postgres': ['alarm', 'stores', 'stores/sharded', 'time'],
  'stores/sqlite': ['alarm', 'stores', 'time'],
  log: ['alarm', 'stores', 'time'],
  engine: ['alarm', 'stores', 'targets', 'time'],
  library: ['alarm', 'engine', 'json', 'log', 'seeds', 'stores', 'targets', 'time'],
  // It opens Wakeful as a user would, on another clock.
  testing: ['alarm', 'engine', 'hosts', 'library', 'log', 'stores', 'stores/sqlite', 'targets', 'time'],
  contracts: ['alarm', 'library', 'seeds', 'time'],
  // Everything but json and time/durations as types only: see below.
  client: ['alarm', 'contracts', 'json', 'library', 'time'],
  server: ['alarm', 'contracts', 'json', 'library', 'log', 'redaction', 'seeds', 'stores', 'targets', 'time'],
  hosts: [...BELOW_HOSTS],
  package: ['alarm', 'hosts', 'library', 'time'],
  cli: [...BELOW_HOSTS, 'client', 'hosts', 'package'],
}

/**
 * The submodules of a module, lowest first: each may import only those before it, and never the module's own files, which
 * put the submodules together.
 */
const SUBMODULES: Readonly<Record<string, readonly string[]>> = {
  alarm: ['fields', 'model', 'decisions', 'views'],
  library: ['events', 'documents'],
  cli: ['text', 'terminal', 'arguments', 'session', 'serve', 'commands'],
  time: [
    'text',
    'durations',
    'zones',
    'clock',
    'civil',
    'rrule',
    'cron',
    'calendars',
    'rules',
    'occurrences',
    'phrases',
    'when',
  ],
  server: ['http', 'auth', 'limits', 'observability', 'tenants', 'calls', 'rest', 'live', 'mcp', 'docs'],
  'stores/postgres': [
    'sql',
    'connection',
    'schema',
    'rows',
    'reads',
    'writes',
    'claims',
    'leases',
    'transfer',
    'maintenance',
  ],
  'stores/sqlite': [
    'sql',
    'connection',
    'schema',
    'rows',
    'reads',
    'writes',
    'claims',
    'ownership',
    'transfer',
    'maintenance',
  ],
}

/** Files that other modules may import directly, because they must not load the whole module. */
const DIRECT_ENTRIES: readonly string[] = [
  'src/alarm/fields/index.ts',
  'src/alarm/fields/table.ts',
  'src/contracts/routes.ts',
  'src/errors/core.ts',
  'src/errors/node-version.ts',
  'src/hosts/node/index.ts',
  'src/server/mcp/index.ts',
  'src/stores/conformance/index.ts',
  'src/time/durations/index.ts',
]
/** What the client may load at run time: browsers load it, so it has neither all texts of errors nor the checks of options. */
const CLIENT_LOADS =
  /^src\/(?:client\/|contracts\/routes|json\/|errors\/(?!index)|alarm\/fields\/table|time\/(?:durations|text)\/)/

/** Modules that read time from the clock port only, so that the simulator and a Durable Object can run them. */
const CLOCK_PORT_ONLY = ['time', 'alarm', 'engine', 'library', 'log', 'targets']
/** The one file that reads the words of errors: those of libraries that give no code. */
const FOREIGN_TEXT = 'src/errors/foreign-text.ts'
const SYSTEM_CLOCK = 'src/hosts/node/system-clock.ts'
/** The timers of the stores: the port of `stores/sharded` and `stores/postgres`, and that of `stores/sqlite`. */
const STORE_TIMERS = ['src/stores/sharded/protocol.ts', 'src/stores/sqlite/connection/connection.ts']
const LINES_MAX = 400
const LINES_WARN = 250
const TEST_SLEEP_MS_MAX = 50
/** Tests in src that may really sleep, each with its reason. */
const MAY_SLEEP: Readonly<Record<string, string>> = {}

const all = sourceFiles(['src', 'test', 'bench', 'examples', 'tools'])
const src = all.filter((file) => file.path.startsWith('src/'))
const isTest = (file: SourceFile) => file.path.endsWith('.test.ts')
const production = src.filter((file) => !isTest(file))

describe('modules', () => {
  it('import one way', () => {
    const wrong = production.flatMap((file) =>
      importsOf(file).flatMap(({ line, path }) => {
        const [from, to] = [moduleOf(file.path), moduleOf(path)]
        if (to === null || to === 'errors' || from === to || MAY_IMPORT[from ?? '']?.includes(to)) return []
        const may = MAY_IMPORT[from ?? '']?.join(', ') || 'none'
        return [`${file.path}:${line} (module ${from}) imports ${path} (module ${to}); it may import ${may}`]
      }),
    )
    expect(wrong).toEqual([])
  })

  it('are entered by their entry points', () => {
    const wrong = src.flatMap((file) =>
      importsOf(file).flatMap(({ line, path }) => {
        const to = moduleOf(path)
        if (to === null || to === 'package' || moduleOf(file.path) === to) return []
        if (path === `src/${to}/index.ts` || DIRECT_ENTRIES.includes(path)) return []
        if (isTest(file) && basename(path) === 'index.ts') return []
        return [
          `${file.path}:${line} bypasses the entry point of ${to}: import src/${to}/index.ts, not ${path}`,
        ]
      }),
    )
    expect(wrong).toEqual([])
  })

  it('submodules import one way, through their entry points', () => {
    const wrong = src.flatMap((file) => {
      const module = moduleOf(file.path) ?? ''
      const order = SUBMODULES[module]
      if (order === undefined) return []
      const from = submoduleOf(file.path, module)
      return importsOf(file).flatMap(({ line, path }) => {
        const to = submoduleOf(path, module)
        if (moduleOf(path) !== module || from === to) return []
        const where = `${file.path}:${line}`
        if (to !== null && path !== `src/${module}/${to}/index.ts`)
          return [`${where} bypasses the entry point of ${module}/${to}: import its index.ts, not ${path}`]
        // A test may use what is above its source.
        if (isTest(file) || from === null) return []
        const isLower = to !== null && order.indexOf(to) < order.indexOf(from)
        return isLower
          ? []
          : [`${where} (${from}) imports ${path}; it may import what comes before ${from} in SUBMODULES`]
      })
    })
    expect(wrong).toEqual([])
  })

  it('list all their submodules in this test', () => {
    const unknown = production.flatMap(({ path }) => {
      const module = moduleOf(path) ?? ''
      const submodule = submoduleOf(path, module)
      const isKnown =
        submodule === null || SUBMODULES[module] === undefined || SUBMODULES[module].includes(submodule)
      return isKnown ? [] : [path]
    })
    expect(unknown).toEqual([])
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
    const modules = new Set(src.map((file) => moduleOf(file.path)).filter((name) => name !== null))
    expect([...modules].filter((name) => MAY_IMPORT[name] === undefined)).toEqual([])
  })

  it('time, alarm, targets, log, engine and library compile without the types of Node', () => {
    expect(output('tsc', ['-p', 'tsconfig.pure.json', '--noEmit'])).toBe('')
  })

  it('the client compiles with the types of a browser and without those of Node', () => {
    expect(output('tsc', ['-p', 'tsconfig.client.json', '--noEmit'])).toBe('')
  })
})

describe('errors', () => {
  it('are told apart by their data, never by their words', () => {
    const wrong = production
      .filter(({ path }) => path !== FOREIGN_TEXT && !path.includes('/conformance/'))
      .flatMap(readingWords)
    expect(wrong).toEqual([])
  })

  it.each([
    ['if (thrown.message.includes("pg")) return'],
    ['if (/pg/.test(cause.message)) return'],
    ['if (errorText(thrown).startsWith("pg")) return'],
    ['if (String(thrown).match(/pg/)) return'],
    ['if (error.message === "pg") return'],
    ['switch (thrown.message) {'],
    ['const text = errorText(thrown)', 'return text.endsWith("pg")'],
    ['const text = (thrown as Error).message', 'if (text === "pg") return'],
    ['const { code, message = "" } = cause as Error', 'if (!message.includes("pg")) throw cause'],
    ['const { message: words } = thrown', 'return /pg/.exec(words)'],
  ])('are not told apart by their words: %j', (...lines) => {
    expect(readingWords({ path: 'src/x.ts', lines })).toHaveLength(1)
  })

  it('of other texts are none', () => {
    const lines = ['const { message } = alarm', 'return message.includes("x") || alarm.label.startsWith("y")']
    expect(readingWords({ path: 'src/x.ts', lines })).toEqual([])
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
    const pure = production.filter((file) => CLOCK_PORT_ONLY.includes(moduleOf(file.path) ?? ''))
    expect(found(pure, timers, 'waits past the clock port: use clock.setTimer')).toEqual([])
  })

  it('is waited for by stores through their ports only, so that tests can let it pass', () => {
    const others = production.filter(
      ({ path }) =>
        path.startsWith('src/stores/') && !path.includes('/conformance/') && !STORE_TIMERS.includes(path),
    )
    const waits = /\b(?:setTimeout|setInterval|setImmediate|AbortSignal\.timeout)\b|timers\/promises/
    expect(found(others, waits, 'waits past the port: use `Timers` or `System`')).toEqual([])
    const ofPg = /\b(?:query_timeout|connectionTimeoutMillis):/
    expect(found(others, ofPg, 'lets `pg` wait: use stores/postgres/connection/session.ts')).toEqual([])
  })

  it('is asked of SQLite never, and of PostgreSQL by clock_timestamp() only', () => {
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
    const listed = long.map((file) => `${file.path}: ${file.lines.length} lines`)
    if (listed.length > 0) console.info(`over ${LINES_WARN} lines, worth a look:\n  ${listed.join('\n  ')}`)
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

/** The submodule of a module that a path is in; null for the module's own files. */
function submoduleOf(path: string, module: string): string | null {
  const [submodule, inner] = path.slice(`src/${module}/`.length).split('/')
  return inner === undefined ? null : (submodule ?? null)
}

/** The lines that decide by the words of an error: what reads them, also by way of a variable of the same file. */
function readingWords(file: SourceFile): string[] {
  const lines = withoutComments(file)
  const thrown = String.raw`(?:\w*(?:[tT]hrown|[eE]rror|[cC]ause|[fF]ailure|[rR]efusal)|err?)`
  const words = String.raw`(?:errorText\([^()]*\)|String\(${thrown}\)|\b${thrown}\)?\??\.message|\(${thrown} as \w+\)\.message)`
  const assigned = RegExp(String.raw`\b(?:const|let) (\w+) = ${words}`)
  const destructured = RegExp(String.raw`\{[^}]*\bmessage\b(?:: (\w+))?[^}]*\} = (?:\(?${thrown}\b)`)
  const names = lines.flatMap((line) => {
    const [, name] = assigned.exec(line) ?? []
    const found = destructured.exec(line)
    return [...(name === undefined ? [] : [name]), ...(found === null ? [] : [found[1] ?? 'message'])]
  })
  const text = names.length === 0 ? words : String.raw`(?:${words}|(?<![\w.])(?:${names.join('|')}))`
  const methods =
    'match|matchAll|replace|replaceAll|search|includes|indexOf|startsWith|endsWith|split|localeCompare'
  const reads = RegExp(
    String.raw`${text}\??\.(?:${methods})\(|\.(?:test|exec|match)\((?:[^()\n]*[(, ])?${text}\b|${text} [!=]==? ['"\`/]|switch \(${text}\)`,
  )
  return lines.flatMap((line, at) => (reads.test(line) ? [`${file.path}:${at + 1} ${line.trim()}`] : []))
}

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
