import { expect, it } from 'vitest'
import { json, wakeful } from './command-line.ts'

it('a mistyped target is refused with what was probably meant, and any other unknown name gets a note', async () => {
  const refused = await wakeful(['set', 'in 1 hour', '--target', 'inboxx'])
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/inboxx.*Did you mean inbox\?/) })
  const url = await wakeful(['set', 'in 1 hour', '--target', 'https//app.example'])
  expect(url).toMatchObject({ code: 2, stderr: expect.stringContaining('looks like a URL') })
  expect(url.stderr.replace(/\s+/g, ' ')).toContain(
    `Write --target https://… to call a URL, or '{"handler":"https//app.example"}' for a handler`,
  )
  const event = await wakeful(['set', 'in 1 hour', '--target', 'event'])
  expect(event.stderr.replace(/\s+/g, ' ')).toContain(
    `Did you mean --event? Otherwise write '{"handler":"event"}'`,
  )
  const { notes } = await json(['set', 'in 1 hour', '--target', 'invoice'])
  expect(notes).toEqual([
    expect.stringContaining('no process of pool app had registered the handler invoice'),
  ])
  expect(await json(['set', 'in 1 hour', '--target', '{"handler":"inboxx"}'])).not.toHaveProperty('notes')
  expect((await json(['stats'])).total).toBe(2)
})
