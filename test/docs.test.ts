import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { ALARM_OPTIONS, EVENT_TYPES, PLAIN_NAMES } from '../src/alarm/index.ts'
import { cliDoc } from '../tools/cli-doc.ts'
import { codeBlocks, ignoredBlocks, programsOf } from '../tools/code-blocks.ts'
import { configDoc } from '../tools/config-doc.ts'
import { errorsDoc } from '../tools/errors-doc.ts'
import { httpDoc } from '../tools/http-doc.ts'
import { lifecycleDoc } from '../tools/lifecycle-doc.ts'
import { llmsDoc } from '../tools/llms-doc.ts'
import { mcpDoc } from '../tools/mcp-doc.ts'
import { metricsDoc } from '../tools/metrics-doc.ts'
import { difference, runSession, type Session, shellSteps } from '../tools/page-session.ts'
import { inTurns, type Ran, runProgram, temporaryFolder } from '../tools/run-program.ts'

const PROGRAM_MS_MAX = 180_000
const PARALLEL = 4
/** Also the time that a program waits for its turn. */
const QUEUE_MS_MAX = 900_000
/** Blocks that are shown and not run are the exception. */
const IGNORED_MAX = 4

const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...globSync('docs/**/*.md').sort()]
const markdown = new Map(pages.map((page) => [page, readFileSync(page, 'utf8')]))
const examples = globSync('examples/*.ts').sort()

/** What programs on PostgreSQL are given. */
const env = { DATABASE_URL: `${inject('postgres')}postgres?schema=docs` }

const shop = temporaryFolder()
afterAll(() => shop.remove())

const programs = pages.flatMap((page) => programsOf(page, markdown.get(page)!))
const files = programs.map(({ page, line, text }) => {
  const file = join(shop.path, `${page.replaceAll('/', '.')}-${line}.ts`)
  writeFileSync(file, `${text}\n`)
  return file
})
const sources = [...files, ...examples.map((example) => resolve(example))]
/** Each is run twice in the same folder: readers do, and the file of the first run is still there. */
const runs = inTurns(
  sources.map((file, index) => async () => {
    const run = () => runProgram(file, join(shop.path, `run-${index}`), PROGRAM_MS_MAX, env)
    return { first: await run(), again: await run() }
  }),
  PARALLEL,
)

describe('code in the docs', () => {
  it('exists', () => {
    expect(programs.length).toBeGreaterThan(10)
  })

  it.for(programs.map((program, index) => [`${program.page}:${program.line}`, index] as const))(
    'runs, and runs again: %s',
    { timeout: QUEUE_MS_MAX },
    async ([, index]) => {
      const { first, again } = await runs[index]!
      expect(outputOf(first) + outputOf(again)).toBe('')
    },
  )

  it('has the types it says', () => {
    const compilerOptions = { noEmit: true, typeRoots: [join(shop.path, 'node_modules/@types')] }
    const config = { extends: resolve('tsconfig.json'), compilerOptions, include: [`${shop.path}/*.ts`] }
    writeFileSync(join(shop.path, 'tsconfig.json'), JSON.stringify(config))
    expect(output('tsc', ['-p', shop.path])).toBe('')
  })

  it('is left out of the run for a reason, and rarely', () => {
    const ignored = pages.flatMap((page) =>
      ignoredBlocks(markdown.get(page)!).map((block) => ({ page, ...block })),
    )
    const silent = ignored.filter(({ info }) => !/^ignore: \S+/.test(info))
    expect(silent.map(({ page, line }) => `${page}:${line} is ignored without a reason`)).toEqual([])
    expect(ignored.length).toBeLessThanOrEqual(IGNORED_MAX)
  })
})

describe('commands in the docs', () => {
  const sessions = pages
    .map((page) => ({ page, steps: shellSteps(markdown.get(page)!) }))
    .filter(({ steps }) => steps.length > 0)
  const runs = inTurns(
    sessions.map(
      ({ steps }) =>
        () =>
          runSession(steps, PROGRAM_MS_MAX),
    ),
    2,
  )

  it.for(sessions.map(({ page }, index) => [page, index] as const))(
    'do and print what the page says: %s',
    { timeout: QUEUE_MS_MAX },
    async ([, index]) => {
      const session = await runs[index]!
      const { steps } = sessions[index]!
      expect(failed(session, steps)).toBe('')
      const wrong = steps.flatMap(({ line, printed }, at) => {
        const said = printed === null ? '' : difference(printed, session.printed[at]!)
        return said === '' ? [] : [`line ${line}: ${said}`]
      })
      expect(wrong).toEqual([])
    },
  )
})

it('says no text where a page’s commands print something else', () => {
  const wrong = (text: string, printed: string) => difference({ language: 'json', text }, printed) !== ''
  expect(wrong('{ "instants": ["…"] }', '{"instants":["2030"],"more":1}')).toBe(false)
  expect(wrong('{ "instants": ["…"] }', '{"instants":[{"instant":"2030"}]}')).toBe(true)
  expect(wrong('{ "drift_ms": "…" }', '{"drift_ms":4}')).toBe(true)
  expect(wrong('{ "items": "…" }', '{"items":[]}')).toBe(true)
})

describe('examples', () => {
  it.for(examples.map((example, index) => [basename(example), index] as const))(
    '%s runs, and says the same on every run',
    { timeout: QUEUE_MS_MAX },
    async ([, index]) => {
      const { first, again } = await runs[programs.length + index]!
      expect(outputOf(first) + outputOf(again)).toBe('')
      expect(first.stdout).not.toBe('')
      expect(withoutChance(again.stdout)).toBe(withoutChance(first.stdout))
    },
  )

  it('remind.ts is the start of the README', () => {
    const start = codeBlocks(markdown.get('README.md')!).find(({ language }) => language === 'ts')
    expect(`${start?.text}\n`).toBe(readFileSync('examples/remind.ts', 'utf8'))
    expect(start?.text.split('\n').length).toBeLessThanOrEqual(20)
  })
})

describe('pages', () => {
  it('that are generated are up to date (npm run docs)', () => {
    expect(markdown.get('docs/reference/errors.md')).toBe(errorsDoc())
    expect(markdown.get('docs/reference/lifecycle.md')).toBe(lifecycleDoc())
    expect(markdown.get('docs/reference/cli.md')).toBe(cliDoc())
    expect(markdown.get('docs/reference/http.md')).toBe(httpDoc())
    expect(markdown.get('docs/reference/configuration.md')).toBe(configDoc())
    expect(markdown.get('docs/reference/mcp.md')).toBe(mcpDoc())
    expect(markdown.get('docs/reference/metrics.md')).toBe(metricsDoc())
    expect(readFileSync('docs/llms.txt', 'utf8')).toBe(llmsDoc())
  })

  it('name every option and every field of an alarm', () => {
    const page = markdown.get('docs/reference/library.md')!
    const [, setting, reading] = /^## Setting$(.*?)^## Reading$(.*?)^## /ms.exec(page)!
    expect(Object.keys(ALARM_OPTIONS).filter((name) => !setting!.includes(`\`${name}\``))).toEqual([])
    expect(PLAIN_NAMES.filter((name) => !new RegExp(`\\b${name}\\b`).test(reading!))).toEqual([])
  })

  it('document every type of event', () => {
    const page = markdown.get('docs/reference/events.md')!
    expect(EVENT_TYPES.filter((type) => !page.includes(`\`${type}\``))).toEqual([])
  })

  it('call commands that exist', () => {
    const known = new Set([...cliDoc().matchAll(/^### `([a-z]+)/gm)].map(([, name]) => name!))
    const called = pages.flatMap((page) =>
      codeBlocks(markdown.get(page)!)
        .filter(({ language }) => language === 'sh')
        .flatMap(({ text }) => [...text.matchAll(/(?:^|\| )wakeful (?:--\S+ \S+ )*([a-z]+)/gm)])
        .map(([, name]) => ({ page, name: name! })),
    )
    const unknown = called.filter(({ name }) => !known.has(name))
    expect(unknown.map(({ page, name }) => `${page} calls wakeful ${name}`)).toEqual([])
  })

  it('call subcommands and options that exist', () => {
    const sections = cliDoc()
      .split(/^### `/m)
      .slice(1)
    const optionsOf = (section: string) => [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, flags]) => flags!)
    const everywhere = optionsOf(cliDoc().split(/^## Alarms/m)[0]!)
    const known = new Map(
      sections.map((section) => [/^([a-z ]+?)(?= ?[`[A-Z])/.exec(section)![1]!, optionsOf(section)] as const),
    )
    const groups = new Set(
      [...known.keys()].filter((name) => name.includes(' ')).map((name) => name.split(' ')[0]),
    )
    const wrong = pages.flatMap((page) =>
      codeBlocks(markdown.get(page)!)
        .filter(({ language }) => language === 'sh')
        .flatMap(({ text }) => [...text.matchAll(/(?:^|\| )wakeful ([^|\n]*)/gm)])
        .flatMap(([, line]) => {
          // Quoted text is the user's, and what follows a # is prose.
          const words = line!
            .replace(/'[^']*'|"[^"]*"/g, 'X')
            .split(/ #| {2}/)[0]!
            .split(' ')
          const at = words.findIndex(
            (word, index) => /^[a-z]/.test(word) && !words[index - 1]?.startsWith('--'),
          )
          const [first, second] = [words[at]!, words[at + 1]]
          const name = groups.has(first) ? `${first} ${second}` : first
          const flags = words.filter((word) => /^--[a-z]/.test(word))
          const options = [...everywhere, ...(known.get(name) ?? [])].join(' ')
          const unknown = flags.filter((flag) => !new RegExp(`${flag}(?![a-z-])`).test(options))
          return known.has(name) ? unknown.map((flag) => `${page}: ${name} ${flag}`) : [`${page}: ${name}`]
        }),
    )
    expect(wrong).toEqual([])
  })

  it('link to existing targets', () => {
    expect(pages.flatMap((page) => brokenLinks(page, markdown.get(page)!))).toEqual([])
  })

  it('are all reached from the README', () => {
    const reached = new Set(['README.md'])
    for (const page of reached) {
      for (const { file } of linksOf(page, markdown.get(page) ?? ''))
        if (markdown.has(file)) reached.add(file)
    }
    expect(pages.filter((page) => !reached.has(page))).toEqual([])
  })
})

interface Link {
  readonly text: string
  readonly file: string
  readonly anchor: string
}

function linksOf(page: string, text: string): Link[] {
  const prose = text.replace(/^ {0,3}```[\s\S]*?^ {0,3}```$/gm, '').replace(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target]) => {
    if (/^[a-z]+:/.test(target!)) return []
    const [path, anchor = ''] = target!.split('#') as [string, string?]
    return [{ text: target!, file: path === '' ? page : join(dirname(page), path), anchor }]
  })
}

function brokenLinks(page: string, text: string): string[] {
  return linksOf(page, text).flatMap(({ text: link, file, anchor }) => {
    if (!existsSync(file)) return [`${page} links to ${link}, which is not there`]
    if (anchor === '' || anchorsOf(readFileSync(file, 'utf8')).has(anchor)) return []
    return [`${page} links to ${link}, which has no such heading`]
  })
}

/** The names GitHub gives headings. */
function anchorsOf(text: string): Set<string> {
  const headings = text.replace(/^ {0,3}```[\s\S]*?^ {0,3}```$/gm, '').matchAll(/^#+ (.+)$/gm)
  return new Set(
    [...headings].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  )
}

/** The output without what differs from run to run: ids, instants, milliseconds. */
function withoutChance(output: string): string {
  return output.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID').replace(/\d+/g, 'N')
}

/** What is wrong with a run; empty if it went well. */
function outputOf({ code, stdout, stderr, durationMs: elapsedMs }: Ran): string {
  if (code === 0 && !stderr.includes('Warning')) return ''
  return `exit ${code} after ${elapsedMs} ms\n${stdout}\n${stderr}`
}

/** Where a page's commands ended, if not at their end. */
function failed({ code, stderr, printed }: Session, steps: readonly { readonly line: number }[]): string {
  if (code === 0) return ''
  return `exit ${code} in the block of line ${steps[printed.length - 1]?.line}\n${printed.at(-1)}\n${stderr}`
}

function output(command: string, args: readonly string[]): string {
  try {
    return execFileSync(`node_modules/.bin/${command}`, args, { encoding: 'utf8' })
  } catch (thrown) {
    return (thrown as { stdout?: string }).stdout || String(thrown)
  }
}
