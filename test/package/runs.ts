import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ANSWER, BODY, IMPORTS, OTHERS, REQUIRES } from './programs.ts'
import { run } from './tarball.ts'

/** A fresh project: its files, and the steps that must end with the answer. */
interface Way {
  readonly files: Readonly<Record<string, string>>
  /** Arguments of Node, one list per step. */
  readonly steps: readonly (readonly string[])[]
}

const PRINT = 'main().then((answer) => console.log(answer))\n'
const EXPECT = `it('fires', async () => { expect(await main()).toBe('${ANSWER}') })\n`
const MODULE = '{ "type": "module" }\n'
/** A project without a type, as most of those that require. */
const COMMONJS = '{}\n'
const BIN = '../../node_modules'
const importing = (names: readonly string[]) => names.map((name) => `import '${name}'\n`).join('')
const requiring = (names: readonly string[]) => names.map((name) => `require('${name}')\n`).join('')
const jest = [`${BIN}/jest/bin/jest.js`, '--ci', '--cache=false', '--watchman=false']
const esbuild = (format: string, file: string, out: string) => [
  '-e',
  `require('../../node_modules/esbuild').buildSync({ entryPoints: ['${file}'], bundle: true, platform: 'node', format: '${format}', outfile: '${out}', logLevel: 'error' })`,
]

/** How users run Wakeful. */
export const WAYS: Readonly<Record<string, Way>> = {
  ESM: {
    files: { 'package.json': MODULE, 'main.js': IMPORTS + importing(OTHERS) + BODY + PRINT },
    steps: [['main.js']],
  },
  CommonJS: {
    files: { 'package.json': COMMONJS, 'main.js': REQUIRES + requiring(OTHERS) + BODY + PRINT },
    steps: [['main.js']],
  },
  'esbuild esm': {
    files: { 'package.json': MODULE, 'main.js': IMPORTS + BODY + PRINT },
    steps: [esbuild('esm', 'main.js', 'out/bundle.mjs'), ['out/bundle.mjs']],
  },
  'esbuild cjs': {
    files: { 'package.json': MODULE, 'main.js': IMPORTS + importing(OTHERS) + BODY + PRINT },
    steps: [esbuild('cjs', 'main.js', 'out/bundle.cjs'), ['out/bundle.cjs']],
  },
  vitest: {
    files: {
      'package.json': MODULE,
      'main.test.js': `import { expect, it } from 'vitest'\n${IMPORTS}${importing(OTHERS)}${BODY}${EXPECT}`,
    },
    steps: [[`${BIN}/vitest/vitest.mjs`, 'run', '--root', '.']],
  },
  Jest: {
    files: { 'package.json': COMMONJS, 'main.test.js': REQUIRES + requiring(OTHERS) + BODY + EXPECT },
    steps: [jest],
  },
}

/** More of the same in the whole run: other tools that compile to CommonJS. */
export const MORE_WAYS: Readonly<Record<string, Way>> = {
  'Jest, Babel': {
    files: {
      'package.json': COMMONJS,
      'babel.config.js': `module.exports = { presets: [['@babel/preset-env', { targets: { node: 'current' } }], '@babel/preset-typescript'] }\n`,
      'main.test.ts': IMPORTS + importing(OTHERS) + BODY + EXPECT,
    },
    steps: [jest],
  },
  // What `nest new` writes.
  'Jest, NestJS': {
    files: {
      'package.json': JSON.stringify({
        jest: {
          moduleFileExtensions: ['js', 'json', 'ts'],
          testRegex: '.*\\.test\\.ts$',
          transform: { '^.+\\.(t|j)s$': 'ts-jest' },
          testEnvironment: 'node',
        },
      }),
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          module: 'nodenext',
          moduleResolution: 'nodenext',
          resolvePackageJsonExports: true,
          esModuleInterop: true,
          isolatedModules: true,
          emitDecoratorMetadata: true,
          experimentalDecorators: true,
          target: 'ES2023',
          skipLibCheck: true,
          strictNullChecks: true,
          noImplicitAny: false,
        },
      }),
      'main.test.ts':
        IMPORTS +
        importing(OTHERS) +
        BODY.replace('Promise.withResolvers()', '(Promise as any).withResolvers()') +
        EXPECT,
    },
    steps: [jest],
  },
}

/** Runs a way in a project of its own; throws what was printed if it fails. */
export function runWay(folder: string, node: string, { files, steps }: Way): void {
  writeFiles(folder, files)
  let printed = ''
  for (const args of steps) printed = run(node, args, folder)
  const isTest = Object.keys(files).some((name) => name.includes('.test.'))
  if (!isTest && printed !== `${ANSWER}\n`) throw new Error(`printed ${printed}`)
}

export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}
