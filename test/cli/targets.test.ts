import { expect, it } from 'vitest'
import { json, wakeful } from './command-line.ts'

it('a mistyped target is refused with what was probably meant, and any other unknown name gets a note', async () => {
  const refused = await wakeful(['set', 'in 1 hour', '--target', 'inboxx'])
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/inboxx.*Did you mean inbox\?/) })
  const url = await wakeful(['set', 'in 1 hour', '--target', 'https//app.example'])
  expect(url).toMatchObject({ code: 2, stderr: expect.stringContaining('looks like a URL') })
  const { notes } = await json(['set', 'in 1 hour', '--target', 'invoice'])
  expect(notes).toEqual([
    expect.stringContaining('no process of pool app had registered the handler invoice'),
  ])
  expect(await json(['set', 'in 1 hour', '--target', '{"handler":"inboxx"}'])).not.toHaveProperty('notes')
  expect((await json(['stats'])).total).toBe(2)
})
