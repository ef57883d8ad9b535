import { describe, expect, it } from 'vitest'
import { compareZone, newTally, type Subject, wakeful, YEAR_LAST } from './compare.ts'
import { footerChanges, readZone, zoneFilesVersion } from './tzif.ts'

// Installs the zone files on a machine without them, before anything reads them.
zoneFilesVersion()

/** Zones with each kind of odd change; the full form, oracle.ts, covers all zones and years. */
const ZONES = [
  'Africa/Casablanca',
  'America/Caracas',
  'America/Havana',
  'America/Sao_Paulo',
  'America/St_Johns',
  'Antarctica/Troll',
  'Asia/Pyongyang',
  'Atlantic/Azores',
  'Australia/Lord_Howe',
  'Europe/Dublin',
  'Pacific/Apia',
  'Pacific/Chatham',
]

describe('cron in every zone', () => {
  it('agrees with the zone files around every change of odd zones, under every policy', () => {
    const tally = newTally()
    for (const name of ZONES) compareZone(readZone(name, YEAR_LAST), tally, { years: [2004, 2022] })
    console.log(
      `zone data: files ${zoneFilesVersion()}, runtime ${process.versions.tz}; ${tally.zones} zones, ${tally.transitions} changes, ` +
        `${tally.walks} walks, ${tally.instants} instants; ${tally.skipped.length} changes skipped, for the versions differ there`,
    )
    expect(tally.mismatches).toEqual([])
    expect(tally.transitions).toBeGreaterThan(250)
    // If both are of one version, nothing may be skipped.
    if (zoneFilesVersion() === process.versions.tz) expect(tally.skipped).toEqual([])
  })

  it.each([
    ['Asia/Kathmandu', 1986, 'a quarter of an hour was skipped'],
    ['Pacific/Kwajalein', 1993, 'a whole day was skipped'],
    ['Europe/Dublin', 1971, 'summer time became standard time'],
    ['America/Anchorage', 1983, 'two hours came twice'],
  ])('agrees in %s in %d, when %s', (name, year) => {
    const tally = newTally()
    compareZone(readZone(name, YEAR_LAST), tally, { years: [year - 1, year] })
    expect(tally).toMatchObject({ mismatches: [], skipped: [] })
    expect(tally.transitions).toBeGreaterThan(0)
  })

  it.each<[string, Subject]>([
    ['ignores the gap policy', (zone, cron, dst) => wakeful(zone, cron, { ...dst, gap: 'shift' })],
    ['ignores the overlap policy', (zone, cron, dst) => wakeful(zone, cron, { ...dst, overlap: 'first' })],
    [
      'takes every step for wall times',
      (zone, cron, dst) => wakeful(zone, cron.replace('*/2', '0-23/2'), dst),
    ],
    ['stands still', (...input) => ({ ...wakeful(...input), next: (after) => after })],
    [
      'is a second late',
      (...input) => ({ ...wakeful(...input), next: (after) => later(wakeful(...input).next(after), 1000) }),
    ],
    [
      'miscounts',
      (...input) => ({
        ...wakeful(...input),
        count: (after, until) => wakeful(...input).count(after, until - 1000),
      }),
    ],
    ['forgets changes', (_zone, cron, dst) => wakeful('Etc/GMT-1', cron, dst)],
  ])('would notice a calendar that %s', (_what, subject) => {
    const tally = newTally()
    const zone = readZone('Europe/Rome', YEAR_LAST)
    compareZone({ ...zone, transitions: zone.transitions.filter(({ at }) => at < 1_100_000_000) }, tally, {
      subject,
    })
    expect(tally.mismatches.length).toBeGreaterThan(0)
  })
})

function later(at: number | null, ms: number): number | null {
  return at === null ? null : at + ms
}

describe('zone files', () => {
  it.each([
    ['CET-1CEST,M3.5.0,M10.5.0/3', 2026, ['2026-03-29T01:00Z', '2026-10-25T01:00Z']],
    ['<+1030>-10:30<+11>-11,M10.1.0,M4.1.0', 2026, ['2026-04-04T15:00Z', '2026-10-03T15:30Z']],
    ['IST-1GMT0,M10.5.0,M3.5.0/1', 2026, ['2026-03-29T01:00Z', '2026-10-25T01:00Z']],
    ['<-02>2<-01>,M3.5.0/-1,M10.5.0/0', 2026, ['2026-03-29T01:00Z', '2026-10-25T01:00Z']],
    ['EET-2EEST,M4.5.5/0,M10.5.4/24', 2026, ['2026-04-23T22:00Z', '2026-10-29T21:00Z']],
    ['AAA3BBB,J60/0,J300/0', 2024, ['2024-03-01T03:00Z', '2024-10-27T02:00Z']],
    ['JST-9', 2026, []],
  ])('have a footer like %s', (footer, year, instants) => {
    const found = footerChanges(footer, year).filter(({ at }) => at >= Date.UTC(year, 0, 1) / 1000)
    expect(found.map(({ at }) => at)).toEqual(instants.map((text) => Date.parse(text) / 1000))
  })

  it('give the same changes from their footer as from their table', () => {
    const zone = readZone('Europe/Rome', YEAR_LAST).transitions.filter(({ at }) => at > 1_577_836_800)
    const footer = footerChanges('CET-1CEST,M3.5.0,M10.5.0/3', YEAR_LAST).filter(
      ({ at }) => at > 1_577_836_800,
    )
    expect(zone.map(({ at, after }) => ({ at, after }))).toEqual(footer)
  })
})
