import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createTls } from 'node:https'
import { type AddressInfo, createServer as createTcp, type Socket, type Server as TcpServer } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { DeliveryFailure } from '../../targets/index.ts'
import { NodeTransport, type TransportOptions } from './webhook-transport.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function listening(server: Server | TcpServer): Promise<URL> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?a=b`)
}

/** A server with what it was asked, and how many connections it took. */
async function serve(listener: RequestListener) {
  const server = createServer(listener)
  const seen = { connections: 0 }
  server.on('connection', () => {
    seen.connections += 1
  })
  closing.push(() => server.closeAllConnections())
  return { url: await listening(server), server, seen }
}

/** A server that says these bytes to whoever connects, and then what it likes. */
async function raw(onConnection: (socket: Socket) => void): Promise<URL> {
  const sockets = new Set<Socket>()
  const server = createTcp((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onConnection(socket)
  })
  closing.push(() => {
    for (const socket of sockets) socket.destroy()
  })
  return listening(server)
}

function transport(options: Partial<TransportOptions> = {}): NodeTransport {
  const made = new NodeTransport({ allowPrivate: true, ...options })
  closing.push(() => made.close())
  return made
}

const request = (url: URL, fields: object = {}) => ({
  url,
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-a': 'e' },
  body: '{"a":"é"}',
  signal: new AbortController().signal,
  ...fields,
})

async function bodyOf(message: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of message) text += String(chunk)
  return text
}

describe('a request', () => {
  test('arrives unchanged, and its answer comes back', async () => {
    const seen: unknown[] = []
    const { url } = await serve(async (message, response) => {
      seen.push([message.method, message.url, message.headers['x-a'], message.headers['content-length']])
      seen.push(await bodyOf(message))
      response.writeHead(201, { 'Retry-After': '7' }).end('{"complete":"é"}')
    })
    const answer = await transport().send(request(url))
    expect(answer).toEqual({ status: 201, retryAfter: '7', body: '{"complete":"é"}' })
    expect(seen).toEqual([['POST', '/hook?a=b', 'e', '10'], '{"a":"é"}'])
  })

  test('without a body has none', async () => {
    const { url } = await serve(async (message, response) =>
      response.end(JSON.stringify([await bodyOf(message), message.headers['content-length'] ?? null])),
    )
    expect((await transport().send(request(url, { method: 'GET', body: null }))).body).toBe('["",null]')
  })

  test('uses a connection again: a thousand of them, ten at a time, take no more than twice ten', async () => {
    const { url, seen } = await serve((message, response) => {
      message.resume()
      message.on('end', () => response.end('ok'))
    })
    const sending = transport()
    const hand = async () => {
      for (let calls = 0; calls < 100; calls++) await sending.send(request(url))
    }
    await Promise.all(Array.from({ length: 10 }, hand))
    // One that has just been answered rests for a turn of the event loop before it is used again.
    expect(seen.connections).toBeLessThanOrEqual(20)
  })

  test('goes over a new connection where the kept one was closed meanwhile', async () => {
    let served = 0
    const url = await raw((socket) => {
      let onThis = 0
      socket.on('data', () => {
        onThis += 1
        // The second request on a connection finds it closed, as one does that idled for too long.
        if (onThis > 1) socket.destroy()
        else {
          served += 1
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok')
        }
      })
    })
    const sending = transport()
    for (let calls = 0; calls < 3; calls++) expect((await sending.send(request(url))).status).toBe(200)
    expect(served).toBe(3)
  })

  test('is sent once where its own answer breaks off, on a new connection and on a kept one', async () => {
    for (const before of [0, 1]) {
      let requests = 0
      const url = await raw((socket) => {
        socket.on('data', () => {
          requests += 1
          if (requests <= before) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
          else socket.write('HTTP/1.1 20', () => socket.resetAndDestroy())
        })
      })
      const sending = transport()
      for (let calls = 0; calls < before; calls++) await sending.send(request(url))
      await expect(sending.send(request(url))).rejects.toBeInstanceOf(DeliveryFailure)
      expect(requests).toBe(before + 1)
    }
  })

  test('that is redirected is answered so: what it leads to is not called', async () => {
    const canary = await serve((_, response) => response.end('reached'))
    const { url } = await serve((_, response) => response.writeHead(302, { Location: canary.url.href }).end())
    for (const method of ['POST', 'GET']) {
      const body = method === 'GET' ? null : '{}'
      expect((await transport().send(request(url, { method, body }))).status).toBe(302)
    }
    expect(canary.seen.connections).toBe(0)
  })

  test('goes to no proxy of the environment', async () => {
    const proxy = await serve((_, response) => response.end('proxied'))
    const { url } = await serve((_, response) => response.end('direct'))
    const names = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']
    for (const name of names) process.env[name] = proxy.url.origin
    try {
      expect((await transport().send(request(url))).body).toBe('direct')
    } finally {
      for (const name of names) delete process.env[name]
    }
    expect(proxy.seen.connections).toBe(0)
  })

  test('is broken off by its signal', async () => {
    const { url } = await serve(() => {})
    const controller = new AbortController()
    const sent = transport().send(request(url, { signal: controller.signal }))
    setTimeout(() => controller.abort('timeout'), 20)
    await expect(sent).rejects.toBeInstanceOf(DeliveryFailure)
    await expect(transport().send(request(url, { signal: AbortSignal.abort() }))).rejects.toBeInstanceOf(
      DeliveryFailure,
    )
  })
})

describe('an answer', () => {
  const answering = (head: string) => (socket: Socket) => socket.once('data', () => socket.write(head))

  test('longer than 64 KiB has no body, and is not read to its end', async () => {
    let written = 0
    const url = await raw((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
        const chunk = `4000\r\n${'a'.repeat(0x4000)}\r\n`
        const more = () => {
          while (!socket.destroyed && socket.write(chunk)) written += 0x4000
          written += 0x4000
        }
        socket.on('drain', more)
        more()
      })
    })
    expect(await transport().send(request(url))).toMatchObject({ status: 200, body: null })
    expect(written).toBeLessThan(20 * 1024 * 1024)
  })

  test('of 64 KiB is read whole', async () => {
    const { url } = await serve((_, response) => response.end('a'.repeat(65_536)))
    expect((await transport().send(request(url))).body).toHaveLength(65_536)
  })

  test('whose body never ends is taken without it', async () => {
    const url = await raw(answering('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"complete":'))
    expect(await transport({ bodyMsMax: 30 }).send(request(url))).toMatchObject({ status: 200, body: null })
  })

  test('whose body breaks off is taken without it', async () => {
    const url = await raw((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"fail":"x"}'))
    })
    expect(await transport().send(request(url))).toMatchObject({ status: 200, body: null })
  })

  test.each([
    ['has huge headers', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['is no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['splits its headers', 'HTTP/1.1 200 OK\r\nX-A: a\rX-B: b\r\n\r\n'],
    ['has two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na'],
    ['switches protocols', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'],
  ])('that %s is a failure of the network', async (_, head) => {
    const failure = transport().send(request(await raw(answering(head))))
    await expect(failure).rejects.toMatchObject({ name: 'DeliveryFailure', final: false })
  })

  test.each(['102 Processing', '103 Early Hints', '104 Upload Resumption Supported', '199 Own'])(
    'after a hundred of %s is still the answer',
    async (interim) => {
      const hints = `HTTP/1.1 ${interim}\r\nLink: a\r\n\r\n`.repeat(100)
      const url = await raw(answering(`${hints}HTTP/1.1 204 No Content\r\n\r\n`))
      expect((await transport().send(request(url))).status).toBe(204)
    },
  )

  test.each([
    ['100 Continue', ''],
    ['101 Switching Protocols', 'Upgrade: x\r\nConnection: Upgrade\r\n'],
  ])(
    'after %s is not read, which is reported; the next request has a new connection',
    async (interim, headers) => {
      const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
      let requests = 0
      const url = await raw((socket) => {
        socket.once('data', () => {
          requests += 1
          socket.write(requests === 1 ? `HTTP/1.1 ${interim}\r\n${headers}\r\n${answer}` : answer)
        })
      })
      const sending = transport()
      await expect(sending.send(request(url))).rejects.toMatchObject({
        name: 'DeliveryFailure',
        final: false,
        message: `${url.origin} answered ${interim}, which was not asked for: the answer behind it is not read`,
      })
      expect(requests).toBe(1)
      expect((await sending.send(request(url))).body).toBe('ok')
    },
  )
})

describe('a failure', () => {
  test('is named by its code, without addresses', async () => {
    const { url, server } = await serve(() => {})
    await new Promise((resolve) => server.close(resolve))
    const failure = transport().send(request(url))
    await expect(failure).rejects.toThrow(`${url.origin} could not be reached: ECONNREFUSED`)
  })

  test('a name that is not known is one', async () => {
    const failure = transport().send(request(new URL('http://does-not-exist.invalid/')))
    await expect(failure).rejects.toThrow(/could not be reached: E\w+/)
  })

  test('a name that is never resolved ends with the time for connecting', async () => {
    const options = { allowPrivate: false, lookupAll: () => {}, connectMsMax: 20 }
    const failure = transport(options).send(request(new URL('http://example.com/')))
    await expect(failure).rejects.toThrow('ETIMEDOUT')
  })

  test('an untrusted certificate is one; the same certificate works where it is trusted', async () => {
    const server = createTls({ key: KEY, cert: CERTIFICATE }, (_, response) => response.end('trusted'))
    const { port } = await listening(server)
    const url = new URL(`https://localhost:${port}/`)
    await expect(transport().send(request(url))).rejects.toMatchObject({
      final: false,
      message: `${url.origin} could not be reached: DEPTH_ZERO_SELF_SIGNED_CERT`,
    })
    const before = getCACertificates('default')
    setDefaultCACertificates([...before, CERTIFICATE])
    try {
      expect((await transport().send(request(url))).body).toBe('trusted')
      // Trusted, but not for this name.
      const other = transport().send(request(new URL(`https://127.0.0.1:${port}/`)))
      await expect(other).rejects.toThrow('ERR_TLS_CERT_ALTNAME_INVALID')
    } finally {
      setDefaultCACertificates(before)
    }
  })
})

/** Of localhost, for a hundred years; made for this test and signed by nobody else. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgoFc66yO5HylF7L1O
+3GKy6799ksstfK1HjYguBWCyJqhRANCAAQ1G0TuZBZwJbE1fMoySl1q3bY5rai0
vZR/Oo9LiNS2515aUN7dbxmogbkvvuJyMtc+YAsW4KaISBzTWVnsUtS0
-----END PRIVATE KEY-----`
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUeFHpONaDkNb9zqXAIBWlIaF5PbgwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNjAxMzgxMFoYDzIxMjYxMDIz
MDEzODEwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQ1G0TuZBZwJbE1fMoySl1q3bY5rai0vZR/Oo9LiNS2515aUN7dbxmo
gbkvvuJyMtc+YAsW4KaISBzTWVnsUtS0o2kwZzAdBgNVHQ4EFgQUMSWsMFuULAbj
K7CyfRVYyYAqpV4wHwYDVR0jBBgwFoAUMSWsMFuULAbjK7CyfRVYyYAqpV4wDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SAAwRQIhAPycMJLtc9Wwtbq7VUy9FsE/o6AD1p/mYAzeKjvwUmUHAiBIahM2FpnG
S0eTWxyBukPlLDsvpaC2SwYvLx2SX2eRsQ==
-----END CERTIFICATE-----`
