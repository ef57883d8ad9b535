import { execSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { HTTP_DRAIN_MS_MAX } from '../../src/cli/serve/serve.ts'
import { readConfig, SETTING_LIST, variableOf } from '../../src/config/index.ts'
import { METRIC_LIST } from '../../src/server/observability/metric-definitions.ts'
import { Metrics } from '../../src/server/observability/metrics.ts'
import { parseDuration } from '../../src/time/index.ts'
import { cliDoc } from '../../tools/cli-doc.ts'
import { readYaml, type Yaml } from './yaml.ts'

const read = (path: string) => readFileSync(`deploy/${path}`, 'utf8')
const dockerfile = read('Dockerfile')
const unit = read('systemd/wakeful.service')
const compose = readYaml(read('compose.yaml')) as { services: Record<string, Record<string, Yaml>> }
const alerts = readYaml(read('prometheus/alerts.yaml')) as {
  groups: { rules: { alert: string; expr: string; labels: object; annotations: object }[] }[]
}
const board = JSON.parse(read('grafana/wakeful.json')) as {
  panels: { id: number; title: string; targets: { expr: string }[] }[]
  templating: { list: { query: unknown }[] }
}
const rules = alerts.groups.flatMap((group) => group.rules)
const boardQueries = [
  ...board.panels.flatMap((panel) => panel.targets.map(({ expr }) => expr)),
  ...board.templating.list.map(({ query }) => JSON.stringify(query)),
]
const queries = [...rules.map(({ expr }) => expr), ...boardQueries]
const drainMs = parseDuration(readConfig({ flags: {}, env: {} }).config.drain)

/** The names a scrape has, histograms with their parts. */
const series = new Set(
  METRIC_LIST.flatMap(({ name, type }) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => name + part) : [name],
  ),
)
const labels = new Set(['le', 'instance', 'job', ...METRIC_LIST.flatMap((metric) => metric.labels)])

describe('board and rules', () => {
  it('use metrics that exist, each by its type', async () => {
    const { body } = await new Metrics({ version: '1', node: '1' }).text()
    const used = queries.flatMap((query) => [...query.matchAll(/\bwakeful_\w+/g)].map(([name]) => name))
    expect(used.length).toBeGreaterThan(30)
    expect(used.filter((name) => !series.has(name))).toEqual([])
    const bare = [...new Set(used)].map((name) => name.replace(/_(?:bucket|sum|count)$/, ''))
    expect(bare.filter((name) => !body.includes(`# TYPE ${name} `))).toEqual([])
  })

  it('show or watch every metric', () => {
    const all = queries.join('\n')
    expect(METRIC_LIST.filter(({ name }) => !all.includes(name)).map(({ name }) => name)).toEqual([])
  })

  it('use labels that exist', () => {
    const used = queries.flatMap((query) => [
      ...[...query.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, names]) => names!.split(/, */)),
      ...[...query.matchAll(/[{,](\w+)=/g)].map(([, name]) => name!),
    ])
    expect(used.filter((label) => !labels.has(label))).toEqual([])
  })

  it('count with rates, and read gauges as they are', () => {
    const counters = METRIC_LIST.filter(({ type }) => type !== 'gauge').map(({ name }) => name)
    const gauges = METRIC_LIST.filter(({ type }) => type === 'gauge').map(({ name }) => name)
    const wrong = queries.flatMap((query) =>
      [...query.matchAll(/(\w+)\((wakeful_\w+)/g)].flatMap(([, call, name]) => {
        const isRate = call === 'rate' || call === 'increase'
        const isGauge = gauges.includes(name!)
        return isRate === isGauge && (isGauge || counters.some((counter) => name!.startsWith(counter)))
          ? [`${call}(${name})`]
          : []
      }),
    )
    expect(wrong).toEqual([])
  })

  it('have complete expressions and unique names', () => {
    const open = (query: string) => [...query.matchAll(/[([{]/g)].length
    const closed = (query: string) => [...query.matchAll(/[)\]}]/g)].length
    expect(queries.filter((query) => open(query) !== closed(query))).toEqual([])
    const names = rules.map(({ alert }) => alert)
    expect(new Set(names).size).toBe(names.length)
    expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length)
    for (const { alert, labels: tagged, annotations } of rules) {
      expect(alert).toMatch(/^Wakeful[A-Z]/)
      expect(tagged).toMatchObject({ severity: expect.stringMatching(/^(?:critical|warning)$/) as string })
      expect(Object.keys(annotations)).toEqual(['summary', 'description'])
    }
  })

  it('see what a process counted before its first scrape', () => {
    const counted = rules.filter(({ expr }) => expr.includes('increase('))
    expect(counted.map(({ alert }) => alert)).toEqual(['WakefulMisfires'])
    for (const { expr } of counted) {
      const [, series, window] = /increase\((\w+\{[^}]*\})\[(\w+)\]\)/.exec(expr)!
      expect(expr).toContain(`(${series} unless ${series} offset ${window})`)
    }
  })

  it('use label values that exist from the start', async () => {
    const { body } = await new Metrics({ version: '1', node: '1' }).text()
    const counters = METRIC_LIST.filter(({ type }) => type === 'counter').map(({ name }) => name)
    const named = queries.flatMap((query) =>
      [...query.matchAll(/(wakeful_\w+)\{(\w+)="([^"]*)"/g)].filter(([, name]) => counters.includes(name!)),
    )
    expect(named.length).toBeGreaterThan(1)
    const missing = named.filter(
      ([, name, label, value]) => !new RegExp(`^${name}\\{.*${label}="${value}"`, 'm').test(body),
    )
    expect(missing.map(([text]) => text)).toEqual([])
  })

  it('alert on what must not go unnoticed', () => {
    const names = rules.map(({ alert }) => alert.replace('Wakeful', ''))
    expect(names).toEqual(
      expect.arrayContaining(['Down', 'StoreDown', 'StoreErrors', 'Lag', 'NoOwner', 'Late', 'Failures']),
    )
  })
})

describe('the guide to operations', () => {
  const guide = readFileSync('docs/guides/operations.md', 'utf8')

  it('documents every alert, and no other', () => {
    const documented = [...guide.matchAll(/`(Wakeful[A-Z]\w+)`/g)].map(([, name]) => name!)
    expect(documented.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted())
  })

  it('queries metrics that exist', () => {
    const asked = [...guide.matchAll(/\bwakeful_[a-z_]+/g)].map(([name]) => name)
    const known = [...series, ...METRIC_LIST.map(({ name }) => name)]
    expect(asked.length).toBeGreaterThan(4)
    expect(asked.filter((name) => !known.includes(name))).toEqual([])
  })

  it('names files that exist', () => {
    const named = [
      'Dockerfile',
      'compose.yaml',
      'wakeful.env.example',
      'systemd/wakeful.service',
      'grafana/wakeful.json',
    ]
    expect(named.filter((file) => !guide.includes(`\`${file}\``) || !existsSync(`deploy/${file}`))).toEqual(
      [],
    )
  })
})

describe('images and units', () => {
  it('call commands that exist', () => {
    const commands = new Set([...cliDoc().matchAll(/^### `([a-z]+)/gm)].map(([, name]) => name!))
    const [started] = JSON.parse(/^CMD (.*)$/m.exec(dockerfile)![1]!) as string[]
    const [program, served] = /^ExecStart=(.*)$/m.exec(unit)![1]!.split(' ')
    const { bin, scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      bin: Record<string, string>
      scripts: Record<string, string>
    }
    expect([commands.has(started!), commands.has(served!)]).toEqual([true, true])
    expect(bin[program!]).toBe('dist/cli/launch.js')
    expect(dockerfile).toContain(`ENTRYPOINT ["node", "/app/${bin.wakeful}"]`)
    const called = [...dockerfile.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name!)
    expect(called.filter((name) => scripts[name] === undefined)).toEqual([])
  })

  it('link a program that may be executed: the build says so of what the compiler wrote', () => {
    expect(dockerfile).toMatch(/^RUN npm run build /m)
    expect(dockerfile).toContain('ln -s /app/dist/cli/launch.js /usr/local/bin/wakeful')
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { build: string } }
    const [compile, ...after] = scripts.build.split(' && ')
    expect(compile).toBe('tsc -p tsconfig.build.json')
    const folder = mkdtempSync(join(tmpdir(), 'wakeful-build-'))
    try {
      const program = join(folder, 'dist/cli/launch.js')
      mkdirSync(dirname(program), { recursive: true })
      writeFileSync(program, readFileSync('src/cli/launch.js'), { mode: 0o644 })
      const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
      execSync(after.join(' && '), { cwd: folder, env: { PATH } })
      expect(statSync(program).mode & 0o777).toBe(0o755)
      expect(readFileSync(program, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('copy files that exist, and nothing else into the image', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, files]) =>
      files!.split(' '),
    )
    const allowed = read('Dockerfile.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
    expect(copied.filter((file) => !existsSync(file))).toEqual([])
    expect(copied.map((file) => `!${file.replace('./', '')}`).sort()).toEqual(allowed.sort())
  })

  it('set variables that exist as settings', () => {
    const known = new Set(SETTING_LIST.map(([key]) => variableOf(key)))
    const texts = [dockerfile, unit, read('compose.yaml'), read('wakeful.env.example')]
    const used = texts.flatMap((text) => [...text.matchAll(/\bWAKEFUL_[A-Z_]+/g)].map(([name]) => name))
    expect(used.length).toBeGreaterThan(8)
    expect(used.filter((name) => !known.has(name))).toEqual([])
  })

  it('tell proxies before they stop, and allow a stop the time it may take', () => {
    const { wakeful } = compose.services
    const kills = [
      parseDuration(wakeful!.stop_grace_period as string),
      1000 * Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1]),
      1000 * Number(/docker stop --timeout (\d+)/.exec(dockerfile)![1]),
    ]
    const lameDucks = [dockerfile, unit].map((text) =>
      parseDuration(/\bWAKEFUL_LAME_DUCK=(\w+)/.exec(text)![1]!),
    )
    expect(lameDucks).toEqual([5_000, 5_000])
    for (const killMs of kills) expect(killMs).toBeGreaterThan(lameDucks[0]! + drainMs + HTTP_DRAIN_MS_MAX)
  })

  it('wait for a database that starts later, and never give up', () => {
    for (const text of [dockerfile, unit]) expect(text).toMatch(/\bWAKEFUL_WAIT=forever\b/)
    const [head] = unit.split('[Service]')
    expect(head).toMatch(/^StartLimitIntervalSec=0$/m)
    expect(unit).toMatch(/^Restart=always$/m)
    expect(compose.services.wakeful!.restart).toBe('unless-stopped')
  })

  it('set valid values', () => {
    const env = Object.fromEntries(
      [...`${dockerfile}\n${unit}`.matchAll(/\b(WAKEFUL_[A-Z_]+)=([\w:/.]+)/g)].map(([, name, value]) => [
        name!,
        value!,
      ]),
    )
    expect(readConfig({ flags: {}, env }).config).toMatchObject({ lameDuck: '5s', wait: 'forever' })
  })

  it('run as an unprivileged user', () => {
    expect(dockerfile).toMatch(/^USER node$/m)
    expect(unit).toMatch(/^DynamicUser=yes$/m)
  })

  it('name no registry, and contain no secret', () => {
    const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image!)
    images.push(...Object.values(compose.services).map(({ image }) => image as string))
    expect(images.filter((image) => !/^[a-z]+(?::[\w.-]+)?$/.test(image))).toEqual([])
    const filled = /^[A-Z_]+=.+$/m.exec(read('wakeful.env.example'))
    expect(filled).toBeNull()
  })
})

describe('the YAML of deploy/', () => {
  it('is parsed completely', () => {
    const files = globSync('deploy/**/*.yaml')
    expect(files.length).toBe(3)
    for (const file of files) expect(readYaml(readFileSync(file, 'utf8'))).toBeTypeOf('object')
  })

  it.for([
    ['a tab', 'a:\n\tb: 1'],
    ['a name twice', 'a: 1\na: 2'],
    ['a list that is left open', 'a: [1, 2'],
    ['a line that is too deep', 'a: 1\n  b: 2'],
    ['a plain text with a colon in it', 'a: b: c'],
    ['a line without a name', 'a: 1\nb'],
  ] as const)('would be refused with %s', ([, text]) => {
    expect(() => readYaml(text)).toThrow(/line \d/)
  })

  it('is parsed correctly', () => {
    const text = '# x\na:\n  - b: "1: 2" # y\n    c: [d, "e, f"]\n  - g\nh:\n'
    expect(readYaml(text)).toEqual({ a: [{ b: '1: 2', c: ['d', 'e, f'] }, 'g'], h: null })
  })
})
