import { parseArgs } from 'node:util'

/** How much a benchmark does. */
export type Form = 'full' | 'quick' | 'smoke'

/** A flag that takes a whole number, with its default in each form. */
export interface NumberFlag {
  readonly description: string
  readonly min: number
  readonly full: number
  /** Defaults to the value of the full form. */
  readonly quick?: number
  readonly smoke: number
}

/** The flags of one benchmark. `--smoke` and `--help` are added to all. */
export interface CommandLine<N extends string, S extends string> {
  /** The script's name in package.json. */
  readonly script: string
  /** What it measures. */
  readonly summary: string
  /** How long the full form takes. */
  readonly duration: string
  readonly numbers: Readonly<Record<N, NumberFlag>>
  /** Flags without a value. */
  readonly switches?: Readonly<Record<S, string>>
  /** Flags with a text. */
  readonly texts?: Readonly<Record<string, string>>
  /** What `--quick` does, where there is one. */
  readonly quick?: string
}

/** What the user asked for. */
export interface Parsed<N extends string, S extends string> {
  readonly form: Form
  readonly numbers: Readonly<Record<N, number>>
  readonly switches: Readonly<Record<S, boolean>>
  readonly texts: Readonly<Record<string, string | undefined>>
}

const SMOKE =
  'a few seconds: every measurement once, with tiny sizes. It shows that all of them work; its figures mean nothing'

/** Reads the flags of a benchmark. Prints the help, or what is wrong with them, and exits if there is nothing to run. */
export function readCommandLine<N extends string, S extends string = never>(
  line: CommandLine<N, S>,
): Parsed<N, S> {
  try {
    const parsed = parse(line, process.argv.slice(2))
    if (parsed !== null) {
      if (parsed.form === 'smoke') console.error('Smoke run: the figures below mean nothing.')
      return parsed
    }
  } catch (error) {
    console.error(`${(error as Error).message}\nRun npm run ${line.script} -- --help for the flags.`)
    process.exit(2)
  }
  console.log(help(line))
  process.exit(0)
}

function parse<N extends string, S extends string>(
  line: CommandLine<N, S>,
  args: readonly string[],
): Parsed<N, S> | null {
  const switches = Object.keys(line.switches ?? {}) as S[]
  const texts = Object.keys(line.texts ?? {})
  const forms = line.quick === undefined ? ['smoke'] : ['quick', 'smoke']
  const flags = (names: readonly string[], type: 'string' | 'boolean') =>
    Object.fromEntries(names.map((name) => [name, { type }]))
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...flags([...Object.keys(line.numbers), ...texts], 'string'),
      ...flags([...switches, ...forms], 'boolean'),
      help: { type: 'boolean', short: 'h' },
    },
  }) as { values: Record<string, string | boolean | undefined> }
  if (values.help === true) return null
  if (values.quick === true && values.smoke === true) throw new Error('Use --quick or --smoke, not both.')
  const form = values.smoke === true ? 'smoke' : values.quick === true ? 'quick' : 'full'
  const numbers = Object.entries<NumberFlag>(line.numbers).map(([name, flag]) => {
    const text = values[name] as string | undefined
    return [name, text === undefined ? (flag[form] ?? flag.full) : wholeNumber(name, text, flag.min)]
  })
  return {
    form,
    numbers: Object.fromEntries(numbers) as Record<N, number>,
    switches: Object.fromEntries(switches.map((name) => [name, values[name] === true])) as Record<S, boolean>,
    texts: Object.fromEntries(texts.map((name) => [name, values[name] as string | undefined])),
  }
}

function wholeNumber(name: string, text: string, min: number): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= min) return value
  throw new Error(`--${name} is "${text}". Use a whole number, ${min} or more.`)
}

function help<N extends string, S extends string>(line: CommandLine<N, S>): string {
  const rows = [
    ...Object.entries<NumberFlag>(line.numbers).map(([name, { description, full }]) => [
      `--${name} N`,
      `${description} (default ${full})`,
    ]),
    ...Object.entries(line.texts ?? {}).map(([name, description]) => [`--${name} TEXT`, description]),
    ...Object.entries<string>(line.switches ?? {}).map(([name, description]) => [`--${name}`, description]),
    ...(line.quick === undefined ? [] : [['--quick', line.quick]]),
    ['--smoke', SMOKE],
    ['--help', 'print this'],
  ] as [flag: string, description: string][]
  const width = Math.max(...rows.map(([flag]) => flag.length))
  return [
    `npm run ${line.script} -- [flags]`,
    '',
    line.summary,
    `Takes ${line.duration}.`,
    '',
    ...rows.map(([flag, description]) => `  ${flag.padEnd(width)}  ${description}`),
  ].join('\n')
}
