import { dirname } from 'node:path'
import { type SourceFile, sourceFiles, withoutComments } from '../source-files.ts'

/** Figures of the source text alone. */
export interface Counts {
  /** The files that name a field which is only stored and returned: those a new one touches. */
  readonly field: { readonly name: string; readonly files: readonly string[] }
  /** Files directly in each folder, the fullest folder first. */
  readonly folders: readonly { readonly folder: string; readonly files: number }[]
  /** Lines of each module, the largest first. */
  readonly modules: readonly { readonly module: string; readonly lines: number }[]
  readonly lines: number
}

/** The test suite that stores must pass: it ships in src/, and is no production code. */
const CONFORMANCE = 'src/stores/conformance/'

/** Counts files and lines under src/, for a field named in camelCase or snake_case. */
export function count(field: string): Counts {
  const files = sourceFiles(['src']).filter(({ path }) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  const production = files.filter(({ path }) => !path.startsWith(CONFORMANCE))
  const naming = filesNaming(production, field)
  if (naming.length === 0) throw new Error(`no file under src/ names the field ${field}`)
  const folders = tally(files, ({ path }) => dirname(path))
  const modules = tally(production, moduleOf, ({ lines }) => lines.length)
  return {
    field: { name: field, files: naming },
    folders: folders.map(([folder, sum]) => ({ folder, files: sum })),
    modules: modules.map(([module, lines]) => ({ module, lines })),
    lines: production.reduce((sum, { lines }) => sum + lines.length, 0),
  }
}

/** The folder in src/; each folder in src/stores/ is a module of its own. */
function moduleOf({ path }: SourceFile): string {
  const [first, ...inner] = dirname(path).split('/').slice(1)
  if (first === undefined) return 'src (files)'
  return first === 'stores' && inner[0] !== undefined ? `${first}/${inner[0]}` : first
}

/** Comments do not count. A migration counts like any other file. */
function filesNaming(files: readonly SourceFile[], field: string): string[] {
  if (!/^\w+$/.test(field)) throw new Error(`${field} is not the name of a field`)
  const camel = field.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  const snake = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const word = new RegExp(`\\b(?:${camel}|${snake})\\b`)
  return files.filter((file) => withoutComments(file).some((line) => word.test(line))).map(({ path }) => path)
}

/** Sums by name, the largest first. */
function tally(
  files: readonly SourceFile[],
  nameOf: (file: SourceFile) => string,
  sizeOf: (file: SourceFile) => number = () => 1,
): [name: string, sum: number][] {
  const sums = new Map<string, number>()
  for (const file of files) sums.set(nameOf(file), (sums.get(nameOf(file)) ?? 0) + sizeOf(file))
  return [...sums].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
}
