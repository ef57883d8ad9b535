import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { testDatabase } from '../../../test/postgres/database.ts'
import { open } from '../../index.ts'
import { doctor, exportLines, importLines } from './index.ts'

const { url: postgres } = testDatabase()
const dir = mkdtempSync(join(tmpdir(), 'wakeful-import-secret-'))
afterAll(() => rmSync(dir, { recursive: true }))

const SECRET = 'the secret of the store that was exported'
const OTHER = 'a secret that has never seen those headers'
const WEBHOOK = { webhook: 'https://example.com/wake', headers: { authorization: 'Bearer hunter2' } }

const stores = {
  SQLite: (name: string) => `sqlite:${join(dir, `${name}.db`)}`,
  PostgreSQL: (name: string) => `${postgres}?schema=${name}`,
}

async function* linesOf(texts: readonly string[]) {
  yield* texts
}

/** How many alarms a store has. */
async function countIn(url: string): Promise<number> {
  const wakeful = await open(url)
  try {
    return (await wakeful.stats()).total
  } finally {
    await wakeful.close()
  }
}

describe.for([
  ['SQLite', 'PostgreSQL'],
  ['PostgreSQL', 'SQLite'],
] as const)('an import from %s into %s', ([from, to]) => {
  const named = (name: string) => stores[to](`${name}_${to.toLowerCase()}`)

  async function exported() {
    const url = stores[from](`from_${from.toLowerCase()}`)
    const wakeful = await open(url, { secret: SECRET })
    const { id } = await wakeful.set('in 1 day', { target: WEBHOOK, key: 'sealed' })
    const { id: letter } = await wakeful.set('in 1 day', { target: 'x', onFailure: WEBHOOK, key: 'letter' })
    await wakeful.set('in 1 day', { target: 'x', key: 'plain' })
    await wakeful.defaultTarget.put(WEBHOOK)
    await wakeful.webhooks.secret()
    await wakeful.close()
    return { id, letter, texts: await Array.fromAsync(exportLines(url)) }
  }

  it('names what could not be decrypted with another secret, and writes nothing', async () => {
    const { id, letter, texts } = await exported()
    for (const secret of [undefined, OTHER]) {
      const url = named('refused')
      const refused = importLines(url, linesOf(texts), undefined, undefined, { secret })
      const refusal = await refused.catch((thrown: Error) => thrown as Error & { code?: string })
      expect(refusal).toMatchObject({ code: 'conflict', message: expect.stringContaining('WAKEFUL_SECRET') })
      for (const name of [`alarm ${id}`, `alarm ${letter}`, 'the default target of ["default",""]'])
        expect((refusal as Error).message).toContain(name)
      expect(await countIn(url)).toBe(0)
    }
  })

  it('takes everything with the same secret, and other processes must have it from then on', async () => {
    const { texts } = await exported()
    const url = named('taken')
    await importLines(url, linesOf(texts), undefined, undefined, { secret: SECRET })
    const wakeful = await open(url, { secret: SECRET })
    expect((await wakeful.getByKey('sealed'))?.target).toBe(WEBHOOK.webhook)
    expect(await wakeful.operator.checkSecret()).toBeNull()
    await wakeful.close()
    const secretCheck = async (secret: string) =>
      (await doctor(url, secret)).find(({ name }) => name === 'secret')
    expect(await secretCheck(SECRET)).toMatchObject({ ok: true })
    expect(await secretCheck(OTHER)).toMatchObject({ ok: false })
  })

  it('into a store that has another secret is refused, unless it is accepted', async () => {
    const { id, texts } = await exported()
    const url = named('other')
    const there = await open(url, { secret: OTHER })
    await there.webhooks.secret()
    await there.close()
    const imported = (acceptOtherSecret: boolean) =>
      importLines(url, linesOf(texts), undefined, undefined, { secret: OTHER, acceptOtherSecret })
    await expect(imported(false)).rejects.toThrow(/into a new store.*--accept-other-secret/)
    expect(await countIn(url)).toBe(0)
    await imported(true)
    const wakeful = await open(url, { secret: OTHER })
    expect((await wakeful.get(id))?.id).toBe(id)
    await wakeful.close()
  })

  it('takes an export of an older version, which does not name its secret', async () => {
    const { texts } = await exported()
    const older = texts.map((text) => text.replace(/,"secret":"[0-9a-f]+"/, ''))
    expect(older[0]).not.toBe(texts[0])
    expect(await importLines(named('older'), linesOf(older))).toMatchObject({ known: 0 })
  })
})

it('uses the secret file beside the new store', async () => {
  const from = await open(stores.SQLite('file_from'), { secret: SECRET })
  await from.set('in 1 day', { target: WEBHOOK })
  await from.close()
  const texts = await Array.fromAsync(exportLines(stores.SQLite('file_from')))
  const to = stores.SQLite('file_to')
  await expect(importLines(to, linesOf(texts))).rejects.toThrow(
    /copy its secret file to .*file_to\.db\.secret/,
  )
  writeFileSync(join(dir, 'file_to.db.secret'), SECRET)
  expect(await importLines(to, linesOf(texts))).toMatchObject({ known: 0 })
})
