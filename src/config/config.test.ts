import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { operations } from '../contracts/index.ts'
import { addConfigFlags, type ConfigInput, openSettings, printed, printedLines, readConfig } from './index.ts'
import { QUOTA_NAMES } from './kinds.ts'

/** Reads as `wakeful serve` does, from a line of flags. */
function read(line: string[], env: ConfigInput['env'] = {}, file?: unknown) {
  const command = addConfigFlags(new Command().exitOverride()).option('--db <url>')
  command.parse(line, { from: 'user' })
  const readFile = (path: string) => {
    if (path === 'wakeful.json' && file !== undefined)
      return typeof file === 'string' ? file : JSON.stringify(file)
    throw new Error(`ENOENT: no such file, open '${path}'`)
  }
  return readConfig({ flags: command.opts(), env, readFile })
}

describe('the configuration', () => {
  it('has the quotas of the API', () => {
    const { tenant, owner, ...names } = Object.fromEntries(QUOTA_NAMES.map((name) => [name, true]))
    expect([tenant, owner]).toEqual([true, true])
    const { quotas } = operations.putTenant.body.shape
    expect(Object.keys(names)).toEqual(Object.keys(quotas.unwrap().shape))
  })

  it('has the defaults of the contract', () => {
    expect(read([]).config).toMatchObject({
      host: '127.0.0.1',
      port: 7420,
      db: 'sqlite:./wakeful.db',
      concurrency: 100,
      batch: 1_000,
      grace: '60s',
      drain: '30s',
      retention: '30d',
      maxFailures: 5,
      timezone: 'UTC',
      allowPrivateTargets: false,
      webhookTimeout: '30s',
      webhooksPerEndpoint: 10,
      maxBodyBytes: 1_048_576,
    })
  })

  it('prefers a flag to a variable, and a variable to the file', () => {
    const file = { port: 1, host: 'file', concurrency: 3 }
    const { config, sources } = read(
      ['--port', '3', '--config', 'wakeful.json'],
      { WAKEFUL_PORT: '2', WAKEFUL_HOST: 'variable' },
      file,
    )
    expect([config.port, config.host, config.concurrency, config.batch]).toEqual([3, 'variable', 3, 1_000])
    expect([sources.port, sources.host, sources.concurrency, sources.batch]).toEqual([
      'flag',
      'environment',
      'file',
      'default',
    ])
  })

  it('finds its file by a variable, and ignores an empty variable', () => {
    const { config, file } = read([], { WAKEFUL_CONFIG: 'wakeful.json', WAKEFUL_PORT: ' ' }, { port: 8 })
    expect([config.port, file]).toEqual([8, 'wakeful.json'])
  })

  it('reads switches and lists from text', () => {
    const { config } = read(['--allow-private-targets'], {
      WAKEFUL_ALLOWED_ORIGINS: 'https://a.example, https://b.example',
      WAKEFUL_METRICS: 'open',
    })
    expect(config).toMatchObject({
      allowPrivateTargets: true,
      allowedOrigins: ['https://a.example', 'https://b.example'],
      metrics: 'open',
    })
    expect(read([], { WAKEFUL_ALLOW_PRIVATE_TARGETS: '1' }).config.allowPrivateTargets).toBe(true)
  })

  it('reads how phrases are read', () => {
    const flags = ['--phrase-clock', '12h', '--phrase-times', 'morning=08:00, eod=18:00']
    expect(openSettings(read(flags).config).phrases).toEqual({
      clock: '12h',
      times: { morning: '08:00', eod: '18:00' },
    })
    expect(() => read(['--phrase-times', 'morning=8'])).toThrow(
      /--phrase-times must be times of day such as morning=08:00,eod=18:00, not "morning=8"/,
    )
  })

  it('reads quotas from a file only', () => {
    const quotas = { tenant: { active_alarms: 10_000 }, owner: { sets_per_second: 5, min_interval: '10s' } }
    const { config, notes } = read(['--config', 'wakeful.json'], { WAKEFUL_QUOTAS: '{}' }, { quotas })
    expect(config.quotas).toEqual(quotas)
    expect(notes).toEqual(['WAKEFUL_QUOTAS is set, but it is not a setting'])
  })

  it.for([
    [
      'a flag',
      ['--port', '70000'],
      {},
      undefined,
      '--port must be a whole number from 0 to 65535, not "70000"',
    ],
    ['a variable', [], { WAKEFUL_DRAIN: 'soon' }, undefined, 'WAKEFUL_DRAIN must be a duration'],
    [
      'a value in the file',
      [],
      {},
      { port: '80' },
      'port in wakeful.json must be a whole number from 0 to 65535, not "80"',
    ],
    [
      'an unknown key',
      [],
      {},
      { prot: 80 },
      'wakeful.json has the unknown setting "prot". Did you mean port?',
    ],
    [
      'an unknown quota',
      [],
      {},
      { quotas: { owner: { active_alarm: 1 } } },
      'quotas in wakeful.json at owner has the unknown key "active_alarm" (did you mean active_alarms?)',
    ],
    [
      'a wrong quota',
      [],
      {},
      { quotas: { owner: { min_interval: 'x' } } },
      'at owner.min_interval must be a duration such as 250ms',
    ],
    [
      'what is no JSON',
      [],
      {},
      '{ "port": 1, }',
      'The configuration wakeful.json is not JSON: Expected double-quoted property name in JSON at position 13 (line 1 column 14).',
    ],
    ['what is no object', [], {}, '[1]', 'wakeful.json must be a JSON object'],
    [
      'a zone that is none',
      [],
      { WAKEFUL_TIMEZONE: 'Mars' },
      undefined,
      'WAKEFUL_TIMEZONE must be a time zone',
    ],
    [
      'a choice that is none',
      ['--log-level', 'loud'],
      {},
      undefined,
      '--log-level must be debug, info, warn',
    ],
  ] as const)('refuses %s by its name', ([, line, env, file, message]) => {
    const flags = file === undefined ? line : [...line, '--config', 'wakeful.json']
    expect(() => read([...flags], env, file)).toThrow(message)
  })

  it('names a missing file', () => {
    expect(() => read(['--config', 'other.json'])).toThrow('other.json cannot be read: ENOENT')
  })

  it('warns of an unknown variable, with a suggestion', () => {
    const { notes } = read([], { WAKEFUL_PROT: '80', WAKEFUL_URL: 'http://localhost', HOME: '/' })
    expect(notes).toEqual(['WAKEFUL_PROT is set, but it is not a setting (did you mean WAKEFUL_PORT?)'])
  })

  it('is printed with the source of each value, and without secrets', () => {
    const configured = read(['--db', 'postgres://me:hunter2@db/wakeful'], {
      WAKEFUL_SECRET: 'tell-nobody',
      WAKEFUL_PROT: '1',
    })
    expect(printed(configured)).toContainEqual({
      name: 'db',
      value: 'postgres://me:…@db/wakeful',
      source: 'flag',
    })
    const lines = printedLines(configured).join('\n')
    expect(lines).toMatch(/^secret +\(hidden\) {2}\(environment\)$/m)
    expect(lines).toMatch(/^port +7420 {2}\(default\)$/m)
    expect(lines).toContain('note: WAKEFUL_PROT')
    expect(lines + JSON.stringify(printed(configured))).not.toMatch(/hunter2|tell-nobody/)
  })

  it('never prints an invalid secret', () => {
    const refuse = () => read(['--config', 'wakeful.json'], {}, { secret: ['tell-nobody'] })
    expect(refuse).toThrow('secret in wakeful.json must be a text, not this value.')
  })

  it('has the options of open', () => {
    expect(openSettings(read([], { WAKEFUL_RETENTION: 'forever' }).config)).toEqual({
      phrases: { times: {} },
      concurrency: 100,
      batch: 1_000,
      grace: '60s',
      drain: '30s',
      retention: null,
      timezone: 'UTC',
      defaults: { maxFailures: 5 },
    })
  })
})
