/** Why an address is not for strangers to reach; see `addressClass`. */
export type AddressClass =
  | 'unspecified'
  | 'loopback'
  | 'private'
  | 'shared (CGNAT)'
  | 'link-local'
  | 'multicast'
  | 'reserved'
  | 'documentation'
  | 'benchmark'
  | 'cloud metadata'
  | 'IPv4 within IPv6'
  | 'unreadable'

const V4: readonly (readonly [string, number, AddressClass])[] = [
  ['0.0.0.0', 8, 'unspecified'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'shared (CGNAT)'],
  ['127.0.0.0', 8, 'loopback'],
  // The one public address that a cloud (Azure) answers to its own machines alone.
  ['168.63.129.16', 32, 'cloud metadata'],
  ['169.254.0.0', 16, 'link-local'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'reserved'],
  ['192.0.2.0', 24, 'documentation'],
  ['192.88.99.0', 24, 'reserved'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'benchmark'],
  ['198.51.100.0', 24, 'documentation'],
  ['203.0.113.0', 24, 'documentation'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved'],
]

/** What can carry an IPv4 address within is refused whole: where it is decoded on the way is not known here. */
const V6: readonly (readonly [string, number, AddressClass])[] = [
  ['::', 128, 'unspecified'],
  ['::1', 128, 'loopback'],
  ['::', 96, 'IPv4 within IPv6'],
  ['::ffff:0:0', 96, 'IPv4 within IPv6'],
  ['::ffff:0:0:0', 96, 'IPv4 within IPv6'],
  ['64:ff9b::', 96, 'IPv4 within IPv6'],
  ['64:ff9b:1::', 48, 'IPv4 within IPv6'],
  ['2001::', 32, 'IPv4 within IPv6'],
  ['2001::', 23, 'reserved'],
  ['2001:db8::', 32, 'documentation'],
  ['2002::', 16, 'IPv4 within IPv6'],
  ['3fff::', 20, 'documentation'],
  ['fc00::', 7, 'private'],
  ['fe80::', 10, 'link-local'],
  ['fec0::', 10, 'private'],
  ['ff00::', 8, 'multicast'],
]

const V4_BLOCKS = V4.map(([base, bits, name]) => ({ groups: groupsOfV4(base)!, bits, name }))
const V6_BLOCKS = V6.map(([base, bits, name]) => ({ groups: groupsOfV6(base)!, bits, name }))
/** The public IPv6 addresses; all others are refused. */
const GLOBAL_V6 = { groups: groupsOfV6('2000::')!, bits: 3 }

/** What kind of address this is that a webhook must not reach; null where it is a public one. */
export function addressClass(address: string): AddressClass | null {
  const v4 = groupsOfV4(address)
  if (v4 !== null) return V4_BLOCKS.find((block) => isWithin(v4, block))?.name ?? null
  const v6 = groupsOfV6(address)
  if (v6 === null) return 'unreadable'
  const known = V6_BLOCKS.find((block) => isWithin(v6, block))
  if (known !== undefined) return known.name
  if (!isWithin(v6, GLOBAL_V6)) return 'reserved'
  return isIsatap(v6) ? 'IPv4 within IPv6' : null
}

/** The same of a URL's host, as far as it can be told without asking for its address; null where it cannot. */
export function hostClass(hostname: string): AddressClass | null {
  const host = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.+$/, '')
    .toLowerCase()
  if (host === 'localhost' || host.endsWith('.localhost')) return 'loopback'
  return isAddress(host) ? addressClass(host) : null
}

/** Whether this is an address and no name. */
export function isAddress(host: string): boolean {
  return groupsOfV4(host) !== null || host.includes(':')
}

interface Block {
  readonly groups: readonly number[]
  readonly bits: number
}

/** Groups are of 16 bits: two for IPv4, eight for IPv6. */
function isWithin(groups: readonly number[], block: Block): boolean {
  return block.groups.every((group, index) => {
    const bits = Math.min(16, Math.max(0, block.bits - 16 * index))
    return (group ^ groups[index]!) >> (16 - bits) === 0
  })
}

/** An interface id that names an IPv4 address (RFC 5214). */
function isIsatap(groups: readonly number[]): boolean {
  return (groups[4] === 0 || groups[4] === 0x200) && groups[5] === 0x5efe
}

function groupsOfV4(text: string): number[] | null {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)
  if (match === null) return null
  const [a, b, c, d] = match.slice(1).map(Number) as [number, number, number, number]
  return a > 255 || b > 255 || c > 255 || d > 255 ? null : [(a << 8) | b, (c << 8) | d]
}

function groupsOfV6(text: string): number[] | null {
  const [address = ''] = text.split('%')
  const halves = address.split('::')
  if (halves.length > 2) return null
  const head = pieces(halves[0]!)
  const tail = halves[1] === undefined ? [] : pieces(halves[1])
  if (head === null || tail === null) return null
  const missing = 8 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null
  return [...head, ...new Array<number>(missing).fill(0), ...tail]
}

function pieces(text: string): number[] | null {
  if (text === '') return []
  const groups: number[] = []
  const parts = text.split(':')
  for (const [index, part] of parts.entries()) {
    const v4 = index === parts.length - 1 ? groupsOfV4(part) : null
    if (v4 !== null) groups.push(...v4)
    else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16))
    else return null
  }
  return groups
}
