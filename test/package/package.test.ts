import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Consumers } from './matrix.ts'
import { packTarball, run, type Tarball } from './tarball.ts'

/** What users get is built, packed and installed as they would, but without the network. */
const root = mkdtempSync(join(tmpdir(), 'wakeful-package-'))
const app = join(root, 'app')
const installed = join(app, 'node_modules', 'wakeful')
const { dependencies, peerDependencies, exports, version } = JSON.parse(
  readFileSync('package.json', 'utf8'),
) as {
  dependencies: Record<string, string>
  peerDependencies: Record<string, string>
  exports: Record<string, string | Record<string, string>>
  version: string
}
const entryPoints = Object.keys(exports).filter((entryPoint) => entryPoint !== './package.json')
const names = entryPoints.map((entryPoint) => entryPoint.replace(/^\./, 'wakeful'))
let packed: Tarball

beforeAll(() => {
  packed = packTarball(root)
  mkdirSync(installed, { recursive: true })
  run('tar', ['-xzf', packed.file, '--strip-components=1', '-C', installed], root)
  writeFileSync(join(app, 'package.json'), '{ "type": "module" }\n')
  for (const name of [
    ...Object.keys(dependencies),
    ...Object.keys(peerDependencies),
    '@types',
    'undici-types',
    'temporal-spec',
    'temporal-utils',
  ]) {
    mkdirSync(dirname(join(app, 'node_modules', name)), { recursive: true })
    symlinkSync(resolve('node_modules', name), join(app, 'node_modules', name), 'dir')
  }
})

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }))

describe('the package', () => {
  it('holds the build, its sources, the licence and the words, and nothing else', () => {
    const known = [
      /^dist\/(?!commonjs\/|types\/).+\.js(?:\.map)?$/,
      /^dist\/commonjs\/(?:.+\.cjs(?:\.map)?|temporal-polyfill\.LICENSE)$/,
      /^dist\/types\/.+\.d\.ts$/,
      /^src\/.+\.ts$|^src\/cli\/launch\.js$/,
      /^docs\/.+\.md$|^docs\/llms\.txt$|^examples\/[\w-]+\.(?:ts|md)$/,
      /^(?:package\.json|LICENSE|(?:README|CHANGELOG|CONTRIBUTING)\.md)$/,
    ]
    const paths = packed.files.map(({ path }) => path)
    expect(paths.filter((path) => !known.some((pattern) => pattern.test(path)))).toEqual([])
    for (const pattern of known) expect(paths.some((path) => pattern.test(path))).toBe(true)
  })

  it('holds no tests and no Node', () => {
    expect(packed.files.filter(({ path }) => /\.test\.|tools\//.test(path))).toEqual([])
    expect(packed.size).toBeLessThan(3_000_000)
    expect(Object.keys(dependencies).filter((name) => /^node\b|runtime/.test(name))).toEqual([])
  })

  it('has source maps, whose sources are there', () => {
    const maps = packed.files.map(({ path }) => path).filter((path) => path.endsWith('.map'))
    expect(maps).toContain('dist/index.js.map')
    expect(maps.filter((path) => path.startsWith('dist/commonjs/')).length).toBeGreaterThan(5)
    const missing = maps.flatMap((path) => {
      const { sources } = JSON.parse(readFileSync(join(installed, path), 'utf8')) as { sources: string[] }
      const own = sources.filter((source) => !source.includes('node_modules'))
      return own.filter((source) => !existsSync(join(installed, dirname(path), source)))
    })
    expect(missing).toEqual([])
  })

  it('has no link that its page cannot follow', () => {
    const broken = packed.files.flatMap(({ path }) => {
      if (!path.endsWith('.md')) return []
      const text = readFileSync(join(installed, path), 'utf8')
      return [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
        .map((match) => match[1]!)
        .filter((link) => !existsSync(join(installed, dirname(path), link)))
        .map((link) => `${path}: ${link}`)
    })
    expect(broken).toEqual([])
  })

  it('says where it comes from', () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >
    for (const field of ['author', 'bugs', 'description', 'keywords', 'license', 'repository'])
      expect(manifest[field], field).toBeTruthy()
  })

  it('imports nothing but Node and its own dependencies', () => {
    const known = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)])
    const strange = packed.files.flatMap(({ path }) => {
      if (!/\.(?:js|d\.ts)$/.test(path)) return []
      const text = readFileSync(join(installed, path), 'utf8')
      return [...text.matchAll(/^(?:import|export)\b[^'"]*?\bfrom ['"]([^.'"][^'"]*)['"]/gm)]
        .map((match) => match[1]!)
        .filter((name) => !name.startsWith('node:') && !known.has(packageOf(name)))
        .map((name) => `${path} imports ${name}`)
    })
    expect(strange).toEqual([])
  })

  it('has a file for every entry point', () => {
    const there = new Set(packed.files.map(({ path }) => `./${path}`))
    const missing = entryPoints.flatMap((entryPoint) =>
      Object.entries(exports[entryPoint]!)
        .filter(([condition, file]) => !condition.endsWith('-dev') && !there.has(file))
        .map(([condition, file]) => `${entryPoint} (${condition}): ${file}`),
    )
    expect(missing).toEqual([])
  })

  it('is imported through every entry point, and fires', () => {
    const program = `
      import { open } from 'wakeful'
      for (const name of ${JSON.stringify(names)}) await import(name)
      const wakeful = await open('sqlite:app.db')
      const fired = Promise.withResolvers()
      wakeful.handle('remind', (fire) => fired.resolve(fire.payload))
      await wakeful.start()
      await wakeful.set('now', { target: 'remind', payload: 'awake' })
      console.log(await fired.promise)
      await wakeful.close()`
    writeFileSync(join(app, 'fires.js'), program)
    expect(run(process.execPath, ['fires.js'], app)).toBe('awake\n')
  })

  it('serves its own docs', () => {
    const program = `
      import { open } from 'wakeful'
      import { startServer } from 'wakeful/server'
      const wakeful = await open('sqlite::memory:')
      const server = await startServer({ wakeful, host: '127.0.0.1', port: 0, version: '1' })
      const index = await (await fetch(server.url + '/llms.txt')).text()
      for (const [, path] of index.matchAll(/\\]\\((\\/[^)]+)\\)/g)) {
        const { status } = await fetch(server.url + path)
        if (status !== 200) console.log(path, status)
      }
      console.log(index.split('\\n')[0])
      await server.close()
      await wakeful.close()`
    writeFileSync(join(app, 'docs.js'), program)
    expect(run(process.execPath, ['docs.js'], app)).toBe('# Wakeful\n')
  })

  it('has types that users compile against, without the sources', () => {
    const program = `
      import { type AlarmView, open, WakefulError, type When } from 'wakeful'
      const when: When = { cron: '0 9 * * 1-5', timezone: 'Europe/Rome' }
      const wakeful = await open('sqlite::memory:')
      const alarm: AlarmView = await wakeful.set(when, { target: 'remind' })
      // @ts-expect-error a bare number says neither seconds nor milliseconds
      await wakeful.set(5, { target: 'remind' })
      if (alarm.nextFireAt === null) throw new WakefulError('alarm.not_found', { name: 'never' })`
    writeFileSync(join(app, 'types.ts'), program)
    const flags = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--lib',
      'esnext',
      '--types',
      'node',
    ]
    expect(run(resolve('node_modules/.bin/tsc'), [...flags, 'types.ts'], app)).toBe('')
  })
})

// The others are combinations of `npm run test:package`.
describe('in a project of its own', () => {
  const consumers = { made: undefined as Consumers | undefined }
  const combination = (row: string, column: string) => {
    consumers.made ??= new Consumers(packed.file)
    const all = [...consumers.made.runs(), ...consumers.made.types()]
    return all.find((each) => each.row === row && each.column === column)!
  }
  afterAll(() => consumers.made?.close())

  it.each([
    ['CommonJS', 'Node 24'],
    ['CommonJS', 'Node 26'],
    ['esbuild cjs', 'Node 24'],
    ['Jest', 'Node 24'],
  ])('fires: %s on %s', (way, node) => {
    combination(way, node).run()
  })

  it.each([
    ['TypeScript 5.9, es2022, skipLibCheck', 'CommonJS'],
    ['TypeScript 5.9, es2022', 'without @types/node'],
    ['TypeScript 7, es2022', 'ESM'],
  ])('compiles, and no wrong call does: %s, %s', (compiler, module) => {
    combination(compiler, module).run()
  })
})

describe('the client', () => {
  it('has types that compile for a browser, without those of Node', () => {
    const program = `
      import { type AlarmView, connect, type RemoteAlarms } from 'wakeful/client'
      const alarms: RemoteAlarms = connect('https://alarms.example.com', { key: 'wk_' })
      const alarm: AlarmView = await alarms.set('tomorrow at 9am', { target: 'remind' })
      document.title = (await alarms.preview({ every: '5m' })).description + alarm.id`
    writeFileSync(join(app, 'page.ts'), program)
    const flags = ['--noEmit', '--strict', '--module', 'esnext', '--moduleResolution', 'bundler']
    const browser = ['--target', 'es2024', '--lib', 'esnext,dom', '--types', '', '--skipLibCheck']
    expect(run(resolve('node_modules/.bin/tsc'), [...flags, ...browser, 'page.ts'], app)).toBe('')
  })

  it('loads no package, and little of this one', () => {
    const loaded = new Set([join(installed, 'dist/client/index.js')])
    for (const file of loaded)
      for (const [, name] of readFileSync(file, 'utf8').matchAll(
        /^(?:import|export)\b[^'"]*? from ['"]([^'"]+)['"]/gm,
      )) {
        expect(name).toMatch(/^\./)
        loaded.add(join(dirname(file), name!))
      }
    const bytes = [...loaded].reduce((sum, file) => sum + readFileSync(file).length, 0)
    expect(bytes).toBeLessThan(115_000)
  })
})

describe('the command', () => {
  const wakeful = (...args: string[]) =>
    run(process.execPath, [join(installed, 'dist/cli/launch.js'), ...args], app)

  it('says its version', () => {
    expect(wakeful('--version').trim()).toBe(version)
  })

  it('sets an alarm and lists it', () => {
    wakeful('set', 'in 1 hour', '--message', 'hello', '--db', 'cli.db')
    const list = JSON.parse(wakeful('list', '--json', '--db', 'cli.db')) as {
      items: { wake_message: string }[]
    }
    expect(list.items.map((alarm) => alarm.wake_message)).toEqual(['hello'])
  })
})

/** The package behind a name that may go on with a path within it. */
function packageOf(name: string): string {
  return name.split('/', name.startsWith('@') ? 2 : 1).join('/')
}
