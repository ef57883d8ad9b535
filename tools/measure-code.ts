import { parseArgs } from 'node:util'
import { type Counts, count } from './measure/counts.ts'
import { measureWalks, type WalkFigures } from './measure/walks.ts'
import { NEW_FIELD_EDITS } from './new-field.ts'

/** What `--check` allows: little more than there is, so that growth is noticed. The goals are those of the reshaping in 2026. */
const BUDGETS: readonly Budget[] = [
  {
    name: 'files, POST to row',
    limit: 32,
    goal: 28,
    measured: ({ walks }) => mostFiles(walks, 'POST to row'),
  },
  { name: 'files of a new field', limit: 6, goal: 6, measured: () => NEW_FIELD_EDITS.length },
  { name: 'files in one folder', limit: 20, goal: 20, measured: ({ folders }) => folders[0]?.files ?? 0 },
  { name: 'lines', limit: 52_000, goal: 44_000, measured: ({ lines }) => lines },
]

const DEFAULT_FIELD = 'conversationId'
const HELP = `npm run measure -- [--list] [--json] [--check] [--field NAME]

Counts how hard the code is to join: the files that a call runs through, the files that a new field touches,
the files in each folder and the lines of each module. It runs a server on SQLite and on a PostgreSQL of its own.

  --list        print the files of each walk in order of first use, and its path from file to file
  --json        print everything as JSON
  --check       exit with 1 if a budget is exceeded
  --field NAME  the field of an alarm whose files are listed, in camelCase or snake_case (${DEFAULT_FIELD})
  --help        print this text

Exit status: 0, 1 if --check finds a budget exceeded, 2 if the code could not be measured.`

const DEFINITIONS = `  files    those under src/ with a function that is called, in each of five warm runs, before the row is
           committed; a file is left out if the same functions run while nothing happens
  on path  those of them on the call path to the statement that writes the row, followed across await, timers
           and queues; a webhook adds the path to its request
  hops     how often the file changes along that path`

type Figures = Counts & { readonly walks: readonly WalkFigures[] }

interface Budget {
  readonly name: string
  readonly limit: number
  readonly goal: number
  readonly measured: (figures: Figures) => number
}

type BudgetResult = Omit<Budget, 'measured'> & { readonly measured: number }

function mostFiles(walks: readonly WalkFigures[], name: WalkFigures['walk']): number {
  return Math.max(...walks.filter(({ walk }) => walk === name).map(({ files }) => files.length))
}

function table(rows: readonly (readonly (string | number)[])[]): string {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? thousands(cell) : cell)))
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)))
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ')
  return cells.map((row) => `  ${line(row).trimEnd()}`).join('\n')
}

function thousands(value: number): string {
  return value.toLocaleString('en-US')
}

function print(figures: Figures, results: readonly BudgetResult[], isListed: boolean): void {
  const { walks, field, folders, modules, lines } = figures
  const section = (title: string, text: string) => console.log(`${title}\n${text}\n`)
  const walkRows = walks.map(({ walk, store, files, paths, hops }) => [
    `${walk}, ${store}`,
    files.length,
    new Set(paths.flat()).size,
    hops,
  ])
  section('Walks', table([['', 'files', 'on path', 'hops'], ...walkRows]))
  console.log(`${DEFINITIONS}\n`)
  if (isListed) for (const walk of walks) section(`${walk.walk}, ${walk.store}`, listed(walk))
  const edited = NEW_FIELD_EDITS.map(({ file }) => file)
  section(
    'Files to edit for a field that is stored and returned (tried by test/new-field.test.ts)',
    indented(edited),
  )
  section(`Files that name the field ${field.name}: ${field.files.length}`, indented(field.files))
  section('Files per folder', table(folders.map(({ folder, files }) => [folder, files])))
  const moduleRows = modules.map(({ module, lines }) => [module, lines])
  section('Lines per module, without tests', table([...moduleRows, ['total', lines]]))
  const budgetRows = results.map(({ name, measured, limit, goal }) => [
    name,
    measured,
    limit,
    goal,
    measured > limit ? 'exceeded' : measured > goal ? 'goal not reached' : 'ok',
  ])
  section('Budgets', table([['', 'measured', 'limit', 'goal', ''], ...budgetRows]))
}

function listed({ files, paths, idle }: WalkFigures): string {
  const ways = paths.map((path) => `  path, ${path.length - 1} hops:\n${indented(path)}`)
  const left = idle.length === 0 ? [] : [`  left out, also runs while nothing happens:\n${indented(idle)}`]
  return [`  files in order of first use:\n${indented(files)}`, ...ways, ...left].join('\n')
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `    ${line}`).join('\n')
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      list: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      field: { type: 'string', default: DEFAULT_FIELD },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) {
    console.log(HELP)
    return 0
  }
  const figures: Figures = { ...count(values.field), walks: await measureWalks() }
  const results = BUDGETS.map((budget) => ({ ...budget, measured: budget.measured(figures) }))
  if (values.json) console.log(JSON.stringify({ ...figures, budgets: results }, null, 2))
  else print(figures, results, values.list)
  const exceeded = results.filter(({ measured, limit }) => measured > limit)
  if (!values.check || exceeded.length === 0) return 0
  for (const { name, measured, limit } of exceeded)
    console.error(`measure: ${name}: ${thousands(measured)} exceeds the budget of ${thousands(limit)}`)
  return 1
}

try {
  process.exitCode = await main()
} catch (thrown) {
  console.error(`measure: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  process.exitCode = 2
}
