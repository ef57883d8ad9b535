import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DeliveryFailure, hostClass } from '../../targets/index.ts'
import type { LookupAll } from './address-guard.ts'
import { NodeTransport } from './webhook-transport.ts'

let connections = 0
const canary = createServer((_, response) => response.end('reached'))
canary.on('connection', () => {
  connections += 1
})
let port = 0

beforeAll(async () => {
  await new Promise<void>((resolve) => canary.listen(0, '::', resolve))
  port = (canary.address() as AddressInfo).port
})
afterAll(() => {
  canary.closeAllConnections()
  canary.close()
})

async function refusedBy(transport: NodeTransport, host: string): Promise<string> {
  const text = `http://${host}:${port}/`
  if (!URL.canParse(text)) return 'no URL'
  const signal = new AbortController().signal
  try {
    await transport.send({ url: new URL(text), method: 'POST', headers: {}, body: '{}', signal })
    return 'sent'
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(DeliveryFailure)
    return (thrown as DeliveryFailure).final ? 'forbidden' : 'network'
  }
}

/** Names that lead to loopback: what a name is spelled like says nothing of where it leads. */
const lookupAll: LookupAll = (hostname, _, callback) => {
  const v6 = hostname.includes('six')
  callback(null, [v6 ? { address: '::1', family: 6 } : { address: '127.0.0.1', family: 4 }])
}

const octal = (byte: number) => `0${byte.toString(8)}`
const hex = (byte: number) => `0x${byte.toString(16)}`
/** An IPv4 address in the spellings that some reader or other takes for it. */
function spellings(address: string): string[] {
  const bytes = address.split('.').map(Number) as [number, number, number, number]
  const [a, b, c, d] = bytes
  const whole = ((a * 256 + b) * 256 + c) * 256 + d
  const groups = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
  return [
    address,
    `${address}.`,
    String(whole),
    hex(whole),
    hex(whole).toUpperCase(),
    `0${whole.toString(8)}`,
    bytes.map(octal).join('.'),
    bytes.map(hex).join('.'),
    bytes.map((byte) => `000${octal(byte)}`).join('.'),
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${hex(a)}.${octal(b)}.${c * 256 + d}`,
    [...address].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join(''),
    [...address].map((letter) => (letter === '.' ? '。' : letter)).join(''),
    [...address]
      .map((letter) => (/\d/.test(letter) ? String.fromCodePoint(0xff10 + Number(letter)) : letter))
      .join(''),
    `[::ffff:${address}]`,
    `[::ffff:${groups}]`,
    `[0:0:0:0:0:ffff:${groups}]`,
    `[::${address}]`,
    `[::ffff:0:${address}]`,
    `[64:ff9b::${address}]`,
    `[64:ff9b:1::${address}]`,
    `[2002:${groups}::]`,
    `[2001:0:${groups}::1]`,
    `[2a00:1450::5efe:${address}]`,
    `[fe80::5efe:${address}]`,
  ]
}

const HOSTS = [
  ...[
    '127.0.0.1',
    '127.1.2.3',
    '0.0.0.0',
    '10.0.0.1',
    '169.254.169.254',
    '192.168.1.1',
    '172.16.5.4',
  ].flatMap(spellings),
  '127.1',
  '127.0.1',
  '0',
  '0x0',
  '00',
  '0x7f.1',
  '017700000001',
  '0x7f000001',
  '127.0.0.1%2e',
  '%6c%6f%63%61%6c%68%6f%73%74',
  'localhost',
  'LocalHost',
  'localhost.',
  'a.localhost',
  'a.b.LOCALHOST.',
  'ｌｏｃａｌｈｏｓｔ',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::0001]',
  '[fe80::1]',
  '[fe80::1%25lo]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fec0::1]',
  '[ff02::1]',
  '[100::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[5f00::1]',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '198.18.0.1',
  '192.0.0.192',
  '224.0.0.1',
  '255.255.255.255',
  '240.0.0.1',
  'loopback.example',
  'six.example',
  '127.0.0.1.nip.example',
  'internal',
  'metadata.google.internal',
  'xn--bcher-kva.example',
]

test('no spelling of an address that is not public is connected to', async () => {
  expect(new Set(HOSTS).size).toBeGreaterThanOrEqual(200)
  const transport = new NodeTransport({ allowPrivate: false, lookupAll })
  const came = new Map<string, string>()
  for (const host of new Set(HOSTS)) came.set(host, await refusedBy(transport, host))
  const wrong = [...came].filter(([, kind]) => kind !== 'forbidden' && kind !== 'no URL')
  expect(wrong).toEqual([])
  expect([...came.values()].filter((kind) => kind === 'forbidden').length).toBeGreaterThanOrEqual(150)
  expect(connections).toBe(0)
  transport.close()
})

test('every literal one is known when the alarm is set already', () => {
  const literal = HOSTS.filter(
    (host) => URL.canParse(`http://${host}/`) && !/[a-z]\.example|internal/.test(host),
  )
  const unknown = literal.filter((host) => hostClass(new URL(`http://${host}/`).hostname) === null)
  expect(unknown).toEqual([])
})

describe('a name whose address flips between public and loopback', () => {
  const PUBLIC = '203.0.114.1'

  test('is connected to the address that was judged: a thousand flips reach nothing here', async () => {
    let asked = 0
    let isLoopback = true
    const flipping: LookupAll = (_, __, callback) => {
      asked += 1
      isLoopback = !isLoopback
      const addresses = isLoopback
        ? [{ address: asked % 4 === 0 ? '::1' : '127.0.0.1', family: asked % 4 === 0 ? 6 : 4 }]
        : [{ address: PUBLIC, family: 4 }]
      callback(null, addresses)
    }
    // The public address is not reached either: nobody waits for it.
    const transport = new NodeTransport({ allowPrivate: false, lookupAll: flipping, connectMsMax: 1 })
    const kinds = new Map<string, number>()
    for (let batch = 0; batch < 10; batch++) {
      const round = Array.from({ length: 100 }, () => refusedBy(transport, 'rebinding.example'))
      for (const kind of await Promise.all(round)) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    }
    expect(asked).toBe(1_000)
    expect(Object.fromEntries(kinds)).toEqual({ forbidden: 500, network: 500 })
    expect(connections).toBe(0)
    transport.close()
  })

  test('of several addresses only public ones are tried, whatever their order', async () => {
    const mixed: LookupAll = (_, __, callback) =>
      callback(null, [
        { address: '127.0.0.1', family: 4 },
        { address: PUBLIC, family: 4 },
        { address: '::1', family: 6 },
        { address: '::ffff:127.0.0.1', family: 6 },
      ])
    const transport = new NodeTransport({ allowPrivate: false, lookupAll: mixed, connectMsMax: 20 })
    expect(await refusedBy(transport, 'mixed.example')).toBe('network')
    expect(connections).toBe(0)
    transport.close()
  })
})

test('the refusal names the kind of address and who can allow it, and not the address', async () => {
  const transport = new NodeTransport({ allowPrivate: false, lookupAll })
  const url = new URL(`http://inner.example:${port}/`)
  const sent = transport.send({
    url,
    method: 'POST',
    headers: {},
    body: '',
    signal: new AbortController().signal,
  })
  const { message } = (await sent.catch((thrown: unknown) => thrown as Error)) as Error
  expect(message).toMatch(/loopback.*WAKEFUL_ALLOW_PRIVATE_TARGETS=1/)
  expect(message).not.toContain('127.0.0.1')
})

test('where the operator allows it, they are reached', async () => {
  const transport = new NodeTransport({ allowPrivate: true })
  expect(await refusedBy(transport, '127.0.0.1')).toBe('sent')
  expect(connections).toBe(1)
  transport.close()
})
