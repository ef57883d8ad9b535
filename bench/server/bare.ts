/** The raw limit of an API: the bare framework reads a body of the same size and answers with JSON of the same size. */

import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'

const answer = JSON.parse(process.argv[2]!) as object
const app = new Hono()
app.post('/v1/alarms', async (c) => {
  const body = (await c.req.json()) as { label: string }
  return c.json({ ...answer, label: body.label }, 201)
})
const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false })
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }))
})
