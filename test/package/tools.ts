import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { run } from './tarball.ts'

/** Kept between runs; npm's own cache makes a first run after `npm ci` fast. */
const CACHE = resolve('node_modules/.cache/package-tests')

/** What users' projects are built and tested with, beside what this repository has. */
const TOOLS: Readonly<Record<string, string>> = {
  '@babel/core': '^7.27.0',
  '@babel/preset-env': '^7.27.0',
  '@babel/preset-typescript': '^7.27.0',
  '@types/jest': '^30.0.0',
  '@types/node': '^24.0.0',
  esbuild: '0.28.2',
  jest: '30.5.2',
  'ts-jest': '29.4.15',
  // The version that ts-jest and the first row of the types use.
  typescript: '5.9.3',
  typescript7: 'npm:typescript@7.0.2',
  vitest: '5.1.0',
}

/** A folder whose node_modules has the tools and Wakeful's dependencies, but not `pg`. Projects are folders in it. */
export function toolsFolder(): string {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    dependencies: Record<string, string>
  }
  return installed({ ...dependencies, ...TOOLS })
}

/** The path of a Node of this version, from the package registry as this repository's own. */
export function nodeOf(version: string): string {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  return join(installed({ [name]: version }), 'node_modules', name, 'bin', 'node')
}

/** Installs packages into a folder of their own, once. */
function installed(dependencies: Readonly<Record<string, string>>): string {
  const manifest = `${JSON.stringify({ private: true, dependencies }, null, 2)}\n`
  const folder = join(CACHE, createHash('sha256').update(manifest).digest('hex').slice(0, 12))
  if (existsSync(folder)) return folder
  const unfinished = `${folder}.${process.pid}`
  mkdirSync(unfinished, { recursive: true })
  writeFileSync(join(unfinished, 'package.json'), manifest)
  run(
    'npm',
    ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--legacy-peer-deps'],
    unfinished,
  )
  if (existsSync(folder)) rmSync(unfinished, { recursive: true })
  else renameSync(unfinished, folder)
  return folder
}
