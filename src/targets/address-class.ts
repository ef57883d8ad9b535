/**
 * Blocks of addresses that are not for strangers to reach: base, bits, and why. What can carry an IPv4 address within is
 * refused whole: where it is decoded on the way is not known here.
 */
const BLOCKS = (
  [
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
  ] as const
).map(([base, bits, name]) => ({ groups: groupsOf(base)!, bits, name }))
/** The public IPv6 addresses; all others are refused. */
const GLOBAL_V6 = { groups: groupsOf('2000::')!, bits: 3 }

/** What kind of address this is that a webhook must not reach; null where it is a public one. */
export function addressClass(address: string): string | null {
  const groups = groupsOf(address)
  if (groups === null) return 'unreadable'
  const known = BLOCKS.find((block) => isWithin(groups, block))
  if (known !== undefined) return known.name
  if (groups.length === 2) return null
  if (!isWithin(groups, GLOBAL_V6)) return 'reserved'
  return isIsatap(groups) ? 'IPv4 within IPv6' : null
}

/** The same of a URL's host, as far as it can be told without asking for its address; null where it cannot. */
export function hostClass(hostname: string): string | null {
  const host = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.+$/, '')
    .toLowerCase()
  if (host === 'localhost' || host.endsWith('.localhost')) return 'loopback'
  const isAddress = groupsOfV4(host) !== null || host.includes(':')
  return isAddress ? addressClass(host) : null
}

/** Groups are of 16 bits: two for IPv4, eight for IPv6. */
function isWithin(groups: readonly number[], block: typeof GLOBAL_V6): boolean {
  if (groups.length !== block.groups.length) return false
  return block.groups.every((group, index) => {
    const bits = Math.min(16, Math.max(0, block.bits - 16 * index))
    return (group ^ groups[index]!) >> (16 - bits) === 0
  })
}

/** An interface id that names an IPv4 address (RFC 5214). */
function isIsatap(groups: readonly number[]): boolean {
  return (groups[4] === 0 || groups[4] === 0x200) && groups[5] === 0x5efe
}

function groupsOf(text: string): number[] | null {
  return groupsOfV4(text) ?? groupsOfV6(text)
}

function groupsOfV4(text: string): number[] | null {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)
  if (match === null) return null
  const [a, b, c, d] = match.slice(1).map(Number) as [number, number, number, number]
  return a > 255 || b > 255 || c > 255 || d > 255 ? null : [(a << 8) | b, (c << 8) | d]
}

/** A URL writes an IPv6 address in one way: in hexadecimal, with the longest run of zeros as `::`. */
function groupsOfV6(text: string): number[] | null {
  const [address = ''] = text.split('%')
  const url = `http://[${address}]/`
  if (!/^[0-9a-f:.]+$/i.test(address) || !URL.canParse(url)) return null
  const [head = [], tail = []] = new URL(url).hostname
    .slice(1, -1)
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':').map((group) => Number.parseInt(group, 16))))
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail]
}
