import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { open, rawJson } from '../../index.ts'
import { exportLines, importLines, noLines } from './index.ts'

const dir = mkdtempSync(join(tmpdir(), 'wakeful-moving-'))
afterAll(() => rmSync(dir, { recursive: true }))
const url = (name: string) => `sqlite:${join(dir, name)}`

const PAYLOAD = '{"n":9007199254740993,"é":[1.0,null]}'

async function filled(name: string): Promise<string> {
  const wakeful = await open(url(name))
  wakeful.handle('x', () => {})
  await wakeful.set('in 1 hour', { target: 'x', key: 'k', idempotencyKey: 'i', payload: rawJson(PAYLOAD) })
  await wakeful.set({ cron: '0 9 * * *', timezone: 'Europe/Rome' }, { target: 'x' })
  await wakeful.set(new Date(0), { target: { event: true }, payload: { a: 1 } })
  const gone = await wakeful.set('in 1 hour', { target: 'x' })
  await wakeful.cancel(gone.id)
  await wakeful.tick()
  await wakeful.close()
  return url(name)
}

async function* lines(texts: readonly string[]) {
  yield* texts
}

const all = (from: string) => Array.fromAsync(exportLines(from))

describe('export and import', () => {
  it('carry everything over exactly, and may be repeated', async () => {
    const texts = await all(await filled('from.db'))
    expect(await importLines(url('to.db'), lines(texts))).toMatchObject({ known: 0 })
    const again = await all(url('to.db'))
    const withoutDate = (text: string) => text.replace(/"exported_at":"[^"]*"/, '')
    expect(again.map(withoutDate)).toEqual(texts.map(withoutDate))
    const counts = noLines()
    expect(await importLines(url('to.db'), lines(texts), counts)).toMatchObject({ imported: 0 })
    expect(counts).toMatchObject({ wakeful: 1, alarm: 4, calendar: 0, damaged: 0, end: 1 })
    const wakeful = await open(url('to.db'))
    expect((await wakeful.getByKey('k'))?.payloadJson).toBe(PAYLOAD)
    expect(await wakeful.stats()).toMatchObject({ total: 4, pending: 2, completed: 1, cancelled: 1 })
    await wakeful.close()
  })

  it('carry calendars over with the alarms that name them', async () => {
    const from = await open(url('days-off.db'))
    await from.calendars.put('holidays', {
      dates: { '2030-12-25': 'Christmas, "the" day' },
      weekend: ['fri'],
    })
    const when = { cron: '0 9 25 12 *', exclude: { calendars: 'holidays', move: 'next' as const } }
    const set = await from.set(when, { target: 'x', key: 'k' })
    await from.close()
    const texts = await all(url('days-off.db'))
    await importLines(url('days-off-too.db'), lines(texts))
    const to = await open(url('days-off-too.db'))
    expect(await to.calendars.list()).toMatchObject([{ name: 'holidays', weekend: [5] }])
    expect((await to.getByKey('k'))?.nextFireAt).toEqual(set.nextFireAt)
    await to.close()
    const alone = texts.filter((text) => !text.startsWith('{"calendar"'))
    await expect(importLines(url('days-off-not.db'), lines(alone))).rejects.toMatchObject({
      message: /names the calendar holidays/,
    })
  })

  it('refuse what is cut off, thinned out or out of order', async () => {
    const texts = await all(await filled('whole.db'))
    const thinned = texts.filter((_, index) => index !== 2)
    const shuffled = [texts[0]!, ...texts.slice(1, -1).reverse(), texts.at(-1)!]
    for (const [name, broken] of Object.entries({
      cut: texts.slice(0, -2),
      thinned,
      shuffled,
      other: ['{}'],
    })) {
      const attempt = importLines(url(`broken-${name}.db`), lines(broken))
      await expect(attempt, name).rejects.toMatchObject({ code: 'invalid_request' })
    }
  })

  it('refuse incomplete lines, without a raw error', async () => {
    const [head, ...rest] = await all(await filled('lines.db'))
    const odd = [
      'null',
      '5',
      '{"alarm":null}',
      '{"alarm":{"id":"x"}}',
      '{"event":null}',
      '{"event":{}}',
      'x',
      '{"end":true}',
    ]
    for (const line of odd) {
      const attempt = importLines(url('odd.db'), lines([head!, line, ...rest]))
      await expect(attempt, line).rejects.toMatchObject({ code: 'invalid_request' })
    }
  })

  it('name the line with a text that no store can hold, and take a payload that spells it', async () => {
    const wakeful = await open(url('nul.db'))
    const target = { webhook: 'https://example.com/', body: { nul: 'a\0b' } }
    await wakeful.set('in 1 hour', { target, label: 'called', payload: { nul: 'a\0b' } })
    await wakeful.close()
    const texts = await all(url('nul.db'))
    const at = texts.findIndex((text) => text.includes('"label":"called"'))
    expect(texts[at]).toContain('u0000')
    await importLines(url('nul-taken.db'), lines(texts))
    const tampered = texts.with(at, texts[at]!.replace('"called"', '"a\\u0000b"'))
    await expect(importLines(url('nul-refused.db'), lines(tampered))).rejects.toMatchObject({
      code: 'invalid_request',
      message: `Line ${at + 1} of the export: a text in it contains \\u0000, which is not allowed.`,
    })
  })

  it('say which alarm holds a key already', async () => {
    const texts = await all(await filled('keyed.db'))
    const wakeful = await open(url('taken.db'))
    await wakeful.set('in 1 hour', { target: 'x', key: 'k' })
    await wakeful.close()
    await expect(importLines(url('taken.db'), lines(texts))).rejects.toMatchObject({
      code: 'conflict',
      message: /key "k"/,
    })
  })

  it('tell of a damaged row and save the others', async () => {
    const from = await filled('damaged.db')
    const db = new DatabaseSync(join(dir, 'damaged.db'))
    db.exec("UPDATE wakeful_alarms SET rule = 'nonsense' WHERE kind = 'cron'")
    db.close()
    const texts = await all(from)
    expect(texts.filter((text) => text.includes('"damaged"'))).toHaveLength(1)
    expect(await importLines(url('rest.db'), lines(texts))).toMatchObject({ known: 0 })
  })
})
