import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { TYPED, WRONG, wrongFile } from './programs.ts'
import { writeFiles } from './runs.ts'

/** How users' compilers find and read modules. */
export const MODULES: Readonly<Record<string, { readonly type: string; readonly options: object }>> = {
  ESM: { type: 'module', options: { module: 'nodenext' } },
  CommonJS: { type: 'commonjs', options: { module: 'nodenext' } },
  bundler: { type: 'module', options: { module: 'preserve', moduleResolution: 'bundler' } },
}

/** One setting of a user's compiler. */
export interface Compiler {
  /** Its folder in node_modules: TypeScript 5.9 or 7. */
  readonly typescript: 'typescript' | 'typescript7'
  readonly lib: 'es2022' | 'esnext'
  readonly skipLibCheck: boolean
  /** Whether the project has the types of Node. */
  readonly types: readonly string[]
}

export const COMPILERS: readonly Compiler[] = (['typescript', 'typescript7'] as const).flatMap((typescript) =>
  (['es2022', 'esnext'] as const).flatMap((lib) =>
    [true, false].map((skipLibCheck) => ({ typescript, lib, skipLibCheck, types: ['node'] })),
  ),
)

export function nameOf({ typescript, lib, skipLibCheck }: Compiler): string {
  return `TypeScript ${typescript === 'typescript' ? '5.9' : '7'}, ${lib}${skipLibCheck ? ', skipLibCheck' : ''}`
}

/** Compiles a program that is right, and every wrong call. Returns what is not as it must be. */
export function checkTypes(folder: string, tools: string, module: string, compiler: Compiler): string[] {
  const { type, options } = MODULES[module]!
  const { typescript, lib, skipLibCheck, types } = compiler
  const wrong = Object.entries(WRONG).map(([what, call], index) => ({
    what,
    call,
    file: `wrong-${index}.ts`,
  }))
  const compilerOptions = {
    noEmit: true,
    strict: true,
    target: 'es2022',
    lib: [lib],
    skipLibCheck,
    types,
    ...options,
  }
  writeFiles(folder, {
    'package.json': JSON.stringify({ type }),
    'tsconfig.json': JSON.stringify({ compilerOptions, include: ['*.ts'] }),
    'right.ts':
      types.length === 0 ? `declare const console: { log(...all: unknown[]): void }\n${TYPED}` : TYPED,
    // Entry points for servers name types of Node.
    ...(types.length > 0 && {
      'others.ts': `export * as a from 'wakeful/sqlite'\nexport * as b from 'wakeful/postgres'\nexport * as c from 'wakeful/server'\n`,
    }),
    ...Object.fromEntries(wrong.map(({ call, file }) => [file, wrongFile(call)])),
  })
  const tsc = join(tools, 'node_modules', typescript, 'bin/tsc')
  const { stdout } = spawnSync(process.execPath, [tsc, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const lines = stdout.split('\n').filter((line) => /error TS/.test(line))
  const unexpected = lines.filter((line) => !line.startsWith('wrong-'))
  const accepted = wrong.filter(({ file }) => !lines.some((line) => line.startsWith(`${file}(3,`)))
  return [...unexpected, ...accepted.map(({ what }) => `compiles: ${what}`)]
}
