import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { afterwards } from '../afterwards.ts'
import { command, serve } from './cli-process.ts'
import { caller } from './harness.ts'

const newFolder = () => mkdtempSync(join(tmpdir(), 'wakeful-default-target-'))

test('`serve --default-target` delivers alarms that name no target to it, a URL or the inbox', async () => {
  const called = Promise.withResolvers<string>()
  const sink = createServer((request, response) => {
    called.resolve(request.url!)
    response.end()
  })
  await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve))
  afterwards(() => void sink.close())
  const url = `http://127.0.0.1:${(sink.address() as AddressInfo).port}/wake/{{user_id}}`
  const env = { WAKEFUL_ALLOW_PRIVATE_TARGETS: '1' }
  const hooked = await serve(['--default-target', url], env, newFolder())
  const asAnn = { 'wakeful-owner': 'ann' }
  expect((await caller(hooked.url, asAnn)('POST', '/v1/alarms', { delay: '10ms' })).status).toBe(201)
  expect(await called.promise).toBe('/wake/ann')
  hooked.child.kill('SIGTERM')
  expect(await hooked.ended).toBe(0)

  const inbox = await serve(['--default-target', 'inbox'], {}, newFolder())
  const call = caller(inbox.url, asAnn)
  await call('POST', '/v1/alarms', { delay: '10ms', label: 'tea' })
  const { items } = (await call('GET', '/v1/inbox?wait=30s')).json
  expect(items).toMatchObject([{ label: 'tea' }])
  inbox.child.kill('SIGTERM')
  expect(await inbox.ended).toBe(0)
})

test('`serve` refuses a default target that is no URL at the start', async () => {
  await expect(command(['serve', '--default-target', 'ftp://x'], {}, newFolder())).rejects.toThrow(
    'must be a URL that begins with https:// or http://',
  )
})
