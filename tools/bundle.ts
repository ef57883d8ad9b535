/**
 * After `tsc`, the two parts of dist/ that are bundled:
 *
 * - dist/commonjs, for what cannot `require` an ES module: Jest, and bundlers that follow a `require`. Node itself takes the
 *   ES modules also for `require`, by the condition `module-sync`, so that a process never has both.
 * - dist/types, the types of the entry points. The types of every file would make users' compilers read also those of
 *   internals, and of packages that only internals need, such as `pg`.
 */
import { copyFileSync, globSync, readFileSync, rmSync } from 'node:fs'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

interface EntryPoint {
  readonly types: string
  readonly require: string
  readonly default: string
}
interface Manifest {
  readonly exports: Readonly<Record<string, string | EntryPoint>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

/** It has ES modules only, so that it must be part of what is not. */
const INCLUDED = 'temporal-polyfill'

/**
 * Global types that the entry points name, and that a user's compiler may not know, by its version or its `lib`. There each
 * would silently be `any`, and with it every type that names it. So each file has its own: the global one where there is
 * one, else the part that users need.
 */
const GLOBALS: Readonly<Record<string, string>> = {
  AbortSignal: `typeof globalThis extends { AbortSignal: { prototype: infer T } } ? T : {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
  throwIfAborted(): void;
}`,
  AsyncDisposable: `{
  readonly [K in SymbolConstructor extends { readonly asyncDispose: infer S extends symbol } ? S : never]: () => Promise<void>;
}`,
  RequestInit: `typeof globalThis extends { fetch(url: string, init?: infer T): unknown } ? NonNullable<T> : object`,
  Response: `typeof globalThis extends { Response: { prototype: infer T } } ? T : object`,
}

const { exports, dependencies, peerDependencies } = JSON.parse(
  readFileSync('package.json', 'utf8'),
) as Manifest
const entryPoints = Object.values(exports).filter((entry) => typeof entry !== 'string')
const names = Object.keys({ ...dependencies, ...peerDependencies })
const external = (packages: readonly string[]) => [
  /^node:/,
  ...packages.map((name) => new RegExp(`^${name}(?:/|$)`)),
]

const code = await rolldown({
  input: inputs('./dist/commonjs/', 'require', (js) => js.replace('./dist/', 'src/').replace(/js$/, 'ts')),
  external: external(names.filter((name) => name !== INCLUDED)),
  platform: 'node',
})
await code.write({
  dir: 'dist/commonjs',
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
  codeSplitting: { groups: [{ name: INCLUDED, test: /node_modules\/temporal-/ }] },
  // Jest has no `import()` of its own.
  dynamicImportInCjs: false,
  comments: false,
  sourcemap: true,
  // The package has the sources.
  sourcemapExcludeSources: true,
})
copyFileSync(`node_modules/${INCLUDED}/LICENSE`, `dist/commonjs/${INCLUDED}.LICENSE`)

const types = await rolldown({
  input: inputs('./dist/types/', 'types', (js) => js.replace(/js$/, 'd.ts')),
  external: external(names),
  plugins: [dts({ dtsInput: true })],
})
const ofFiles = globSync('dist/**/*.d.ts')
await types.write({
  dir: 'dist/types',
  format: 'es',
  chunkFileNames: '[name]-[hash].d.ts',
  plugins: [{ name: 'globals', renderChunk: (code) => globalsIn(code) + code }],
})
for (const file of ofFiles) rmSync(file)

function globalsIn(types: string): string {
  const named = Object.keys(GLOBALS).filter((name) => new RegExp(`\\b${name}\\b`).test(types))
  return named.map((name) => `type ${name} = ${GLOBALS[name]};\n`).join('')
}

/** The file of each entry point, by the name of what is made of it. */
function inputs(folder: string, condition: 'require' | 'types', file: (js: string) => string) {
  const named = entryPoints.map((entry) => [
    entry[condition].replace(folder, '').replace(/\.(?:cjs|d\.ts)$/, ''),
    file(entry.default),
  ])
  return Object.fromEntries(named) as Record<string, string>
}
