import { describe, expect, it } from 'vitest'
import { wakeful } from './command-line.ts'

describe('a table', () => {
  const zone = ['--timezone', 'America/Argentina/Buenos_Aires']
  const linesOf = async (args: readonly string[]) =>
    (await wakeful([...args, ...zone], '', undefined, 80)).stdout.split('\n')

  it('of outcomes fits 80 columns', async () => {
    const names = ['--label', 'a label that is rather long', '--target', 'a-handler-with-a-long-name']
    for (const when of ['2031-05-01T09:00', 'in 11 months']) {
      const { id } = JSON.parse((await wakeful(['set', when, ...names, ...zone, '--json'])).stdout)
      await wakeful(['cancel', id])
    }
    const lines = await linesOf(['history'])
    expect(lines.join('\n')).toContain('a-handler-')
    expect(lines.filter((line) => line.length > 80)).toEqual([])
  })

  it('of keys fits 80 columns', async () => {
    const names = ['--tenant', 'a-tenant-with-a-name', '--owner', 'an-owner-with-a-name']
    await wakeful(['keys', 'create', ...names, '--label', 'a label that is long', '--expires-in', '700d'])
    await wakeful(['keys', 'create', '--rights', 'admin'])
    const lines = await linesOf(['keys', 'list'])
    expect(lines.join('\n')).toContain('a label t')
    expect(lines.filter((line) => line.length > 80)).toEqual([])
  })
})
