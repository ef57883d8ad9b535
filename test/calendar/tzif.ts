import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of the zone files. */
const ZONEINFO = '/usr/share/zoneinfo'

/** A change of a zone's offset: from `at` (epoch seconds) on it is `after` seconds east of UTC. */
export interface Transition {
  at: number
  before: number
  after: number
}

/** A zone by its file: its changes up to the end of `untilYear`, and the offset before the first. */
export interface Zone {
  name: string
  first: number
  transitions: Transition[]
}

/** The version of the zone files; installs them on a bare Debian, or fails with instructions. */
export function zoneFilesVersion(): string {
  const index = join(ZONEINFO, 'tzdata.zi')
  if (!existsSync(index)) install()
  if (!existsSync(index)) throw new Error(`no zone files in ${ZONEINFO}: install the package tzdata`)
  return readFileSync(index, 'utf8').split('\n')[0]!.replace('# version ', '')
}

function install(): void {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const step of [['update'], ['install', '-y', 'tzdata']]) {
    spawnSync('apt-get', step, { stdio: 'ignore', env: environment })
  }
}

/** The names of all zone files, including links; `posix/` and `right/` contain copies, and some files are no zones. */
export function zoneNames(folder = ''): string[] {
  return readdirSync(join(ZONEINFO, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const name = join(folder, entry.name)
      if (['posix', 'right'].includes(name)) return []
      if (entry.isDirectory()) return zoneNames(name)
      return readFileSync(join(ZONEINFO, name)).subarray(0, 4).toString() === 'TZif' ? [name] : []
    })
    .filter((name) => !['localtime', 'posixrules', 'Factory'].includes(name))
    .sort()
}

/** Parses a zone's file (RFC 8536): its 64-bit data, and the footer for later years. */
export function readZone(name: string, untilYear: number): Zone {
  const file = readFileSync(join(ZONEINFO, name))
  const v1 = header(file, 0)
  if (v1.version < 2) throw new Error(`${name}: version ${v1.version} has no 64-bit data`)
  const start = 44 + blockLength(v1, 4)
  const counts = header(file, start)
  let at = start + 44
  const instants = times(counts.time, () => Number(file.readBigInt64BE(skip(8))))
  const indexes = times(counts.time, () => file[skip(1)]!)
  const types = times(counts.type, () => {
    const offset = file.readInt32BE(skip(4))
    skip(2)
    return offset
  })
  const footer = file
    .subarray(start + 44 + blockLength(counts, 8))
    .toString()
    .split('\n')[1]!
  const changes = instants.map((instant, index) => ({ at: instant, after: types[indexes[index]!]! }))
  const last = instants.at(-1) ?? Number.NEGATIVE_INFINITY
  changes.push(...footerChanges(footer, untilYear).filter((change) => change.at > last))
  return { name, first: types[0]!, transitions: onlyChanges(types[0]!, changes) }

  function skip(bytes: number): number {
    at += bytes
    return at - bytes
  }
}

interface Counts {
  version: number
  isUt: number
  isStd: number
  leap: number
  time: number
  type: number
  char: number
}

function header(file: Buffer, at: number): Counts {
  if (file.subarray(at, at + 4).toString() !== 'TZif') throw new Error('not a TZif header')
  const [isUt, isStd, leap, time, type, char] = times(6, (index) => file.readUInt32BE(at + 20 + index * 4))
  return {
    version: Number(String.fromCharCode(file[at + 4]!)) || 1,
    isUt: isUt!,
    isStd: isStd!,
    leap: leap!,
    time: time!,
    type: type!,
    char: char!,
  }
}

function blockLength(counts: Counts, timeBytes: number): number {
  const { time, type, char, leap, isStd, isUt } = counts
  return time * (timeBytes + 1) + type * 6 + char + leap * (timeBytes + 4) + isStd + isUt
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

/** Drops entries that change only the name or the summer flag. */
function onlyChanges(first: number, changes: { at: number; after: number }[]): Transition[] {
  let before = first
  const kept: Transition[] = []
  for (const { at, after } of changes) {
    if (after !== before) kept.push({ at, before, after })
    before = after
  }
  return kept
}

const NAME = '(?:[A-Za-z]+|<[A-Za-z0-9+-]+>)'
const HMS = '[+-]?\\d+(?::\\d+){0,2}'
const FOOTER = new RegExp(
  `^${NAME}(${HMS})(?:${NAME}(${HMS})?,([^,/]+)(?:/(${HMS}))?,([^,/]+)(?:/(${HMS}))?)?$`,
)

/** The changes of the footer, a POSIX TZ string, in the years 1970 to `untilYear`. */
export function footerChanges(footer: string, untilYear: number): { at: number; after: number }[] {
  const match = FOOTER.exec(footer)
  if (match === null) {
    if (footer === '') return []
    throw new Error(`footer ${footer} is not understood`)
  }
  // POSIX counts west as positive.
  const standard = -seconds(match[1]!)
  if (match[3] === undefined) return []
  const summer = match[2] === undefined ? standard + 3600 : -seconds(match[2])
  const changes: { at: number; after: number }[] = []
  for (let year = 1970; year <= untilYear; year++) {
    changes.push(
      { at: dayOf(match[3], year) * 86_400 + seconds(match[4] ?? '2') - standard, after: summer },
      { at: dayOf(match[5]!, year) * 86_400 + seconds(match[6] ?? '2') - summer, after: standard },
    )
  }
  return changes.sort((a, b) => a.at - b.at)
}

function seconds(hms: string): number {
  const [h, m = 0, s = 0] = hms.replace(/^[+-]/, '').split(':').map(Number)
  return (hms.startsWith('-') ? -1 : 1) * (h! * 3600 + m * 60 + s)
}

/** The day, counted from 1970, of `Mm.w.d`, `Jn` or `n` in a year. */
function dayOf(rule: string, year: number): number {
  const january1 = Date.UTC(year, 0, 1) / 86_400_000
  if (rule.startsWith('J')) {
    const nth = Number(rule.slice(1))
    const leap = Date.UTC(year, 2, 0) / 86_400_000 - january1 === 59
    return january1 + nth - (leap && nth >= 60 ? 0 : 1)
  }
  if (!rule.startsWith('M')) return january1 + Number(rule)
  const [month, week, weekday] = rule.slice(1).split('.').map(Number) as [number, number, number]
  const monthFirst = Date.UTC(year, month - 1, 1) / 86_400_000
  const monthEnd = Date.UTC(year, month, 1) / 86_400_000
  // 1970-01-01 was a Thursday.
  const firstSuch = monthFirst + ((weekday - ((monthFirst + 4) % 7) + 7) % 7)
  const day = firstSuch + (week - 1) * 7
  return day < monthEnd ? day : day - 7
}
