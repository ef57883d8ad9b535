import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'

/** A file of this repository, read once. */
export interface SourceFile {
  /** From the root, with forward slashes. */
  readonly path: string
  readonly lines: readonly string[]
}

/** A relative import, resolved to a path from the root. */
export interface Import {
  readonly line: number
  readonly path: string
}

/** These folders of `stores/` are modules of their own. */
const STORES = ['sharded', 'sqlite', 'postgres']

/** Every source file below these folders. */
export function sourceFiles(folders: readonly string[]): SourceFile[] {
  const patterns = folders.map((folder) => `${folder}/**/*.{ts,js}`)
  return globSync(patterns, { exclude: ['**/node_modules/**', '**/dist/**'] })
    .map((path) => path.split(sep).join('/'))
    .sort()
    .map((path) => ({ path, lines: readFileSync(path, 'utf8').replace(/\n$/, '').split('\n') }))
}

/** The module a path of src belongs to; null for files that every module may import. */
export function moduleOf(path: string): string | null {
  const [src, module, inner] = path.split('/')
  if (src !== 'src' || module === undefined || path === 'src/error.ts') return null
  if (path === 'src/index.ts') return 'package'
  return module === 'stores' && inner !== undefined && STORES.includes(inner) ? `${module}/${inner}` : module
}

/** Every relative import of a file, also those of types and those made on demand. */
export function importsOf(file: SourceFile): Import[] {
  return withoutComments(file).flatMap((line, index) =>
    [...line.matchAll(/(?:\bfrom|\bimport\(?)\s*'(\.[^']+)'/g)].map((match) => ({
      line: index + 1,
      path: normalize(join(dirname(file.path), match[1]!))
        .split(sep)
        .join('/'),
    })),
  )
}

/** The lines of a file without their comments, each still at its place. */
export function withoutComments(file: SourceFile): string[] {
  let inside = false
  return file.lines.map((line) => {
    if (inside) {
      if (!line.includes('*/')) return ''
      inside = false
      return line.slice(line.indexOf('*/') + 2)
    }
    const text = line.replace(/\/\*.*?\*\//g, '').replace(/(^|\s)\/\/.*$/, '$1')
    const start = /(?:^|\s)\/\*/.exec(text)
    if (start === null) return text
    inside = true
    return text.slice(0, start.index)
  })
}
