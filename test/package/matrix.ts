import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COMPILERS, checkTypes, MODULES, nameOf } from './compilers.ts'
import { MORE_WAYS, runWay, WAYS, writeFiles } from './runs.ts'
import { run } from './tarball.ts'
import { nodeOf, toolsFolder } from './tools.ts'

/** The versions that users have. This repository's own is the newest. */
const NODES: Readonly<Record<string, () => string>> = {
  'Node 24': () => nodeOf('24.21.0'),
  'Node 26': () => process.execPath,
}
/** Versions that are too old: without and with `require` of ES modules, and without and with node:sqlite. */
const OLD_NODES = ['20.18.0', '20.20.2', '22.23.3']

/** One combination, which throws what is wrong with it. */
export interface Combination {
  /** The row and the column of the table. */
  readonly row: string
  readonly column: string
  readonly run: () => void
}

/** Projects that use the packed tarball, each in a folder of its own. */
export class Consumers {
  readonly #tools = toolsFolder()
  /** Its node_modules are the tools and Wakeful's dependencies. */
  readonly #root = mkdtempSync(join(tmpdir(), 'wakeful-consumers-'))
  /** Its node_modules has Wakeful alone. */
  readonly #projects = join(this.#root, 'projects')
  #count = 0

  constructor(tarball: string) {
    symlinkSync(join(this.#tools, 'node_modules'), join(this.#root, 'node_modules'), 'dir')
    const installed = join(this.#projects, 'node_modules', 'wakeful')
    mkdirSync(installed, { recursive: true })
    run('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed], this.#root)
  }

  close(): void {
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 3 })
  }

  /** Every way to run Wakeful on every Node. */
  runs(): Combination[] {
    return Object.entries({ ...WAYS, ...MORE_WAYS }).flatMap(([row, way]) =>
      Object.entries(NODES).map(([column, node]) => ({
        row,
        column,
        run: () => runWay(this.#project(), node(), way),
      })),
    )
  }

  /** Every setting of the compiler, for every kind of project; also without the types of Node. */
  types(): Combination[] {
    return COMPILERS.flatMap((compiler) => {
      const row = nameOf(compiler)
      const checks = Object.keys(MODULES).map((module) => ({ column: module, module, compiler }))
      const bare = { column: 'without @types/node', module: 'ESM', compiler: { ...compiler, types: [] } }
      return [...checks, bare].map(({ column, module, compiler }) => ({
        row,
        column,
        run: () => {
          const wrong = checkTypes(this.#project(), this.#tools, module, compiler)
          if (wrong.length > 0) throw new Error(wrong.join('\n'))
        },
      }))
    })
  }

  /** Every entry point, and the command, on every Node that is too old. */
  refusals(): Combination[] {
    const manifest = join(this.#projects, 'node_modules/wakeful/package.json')
    const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports: Record<string, unknown> }
    const names = Object.keys(exports).filter((name) => name !== './package.json')
    const programs: Record<string, readonly string[]> = {
      import: ['--input-type=module', '-e', 'await import(process.argv[1])'],
      require: ['-e', 'require(process.argv[1])'],
    }
    return OLD_NODES.flatMap((version) => [
      ...Object.entries(programs).map(([column, program]) => ({
        row: `Node ${version}`,
        column,
        run: () => {
          for (const name of names)
            this.#refuses(
              version,
              [...program, name.replace('.', 'wakeful')],
              /Wakeful needs Node 24 or newer, and this is/,
            )
        },
      })),
      {
        row: `Node ${version}`,
        column: 'command',
        run: () =>
          this.#refuses(
            version,
            ['../node_modules/wakeful/dist/cli/launch.js', 'list'],
            /^error: wakeful needs Node 24/,
          ),
      },
    ])
  }

  #refuses(version: string, args: readonly string[], expected: RegExp): void {
    const folder = this.#project()
    writeFiles(folder, { 'package.json': '{}\n' })
    let text = ''
    try {
      run(nodeOf(version), args, folder)
    } catch (thrown) {
      text = ((thrown as Error).cause as { stderr: string }).stderr
    }
    if (!expected.test(text) || /SyntaxError|ERR_/.test(text)) throw new Error(`${args.join(' ')}: ${text}`)
  }

  #project(): string {
    this.#count += 1
    const folder = join(this.#projects, `project-${this.#count}`)
    mkdirSync(folder)
    return folder
  }
}
