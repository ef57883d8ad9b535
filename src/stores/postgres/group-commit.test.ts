import { describe, expect, it } from 'vitest'
import { GroupCommit } from './group-commit.ts'

/** A store that commits when it is told to, and cannot take some jobs. */
function scene(bad: readonly string[] = [], jobsMax = 100) {
  const commits: string[][] = []
  const gates: PromiseWithResolvers<void>[] = []
  const group = new GroupCommit<string, string>({
    jobsMax,
    mayDivide: (thrown) => (thrown as Error).message === 'bad',
    async run(jobs) {
      await gates.shift()?.promise
      if (jobs.some((job) => bad.includes(job))) throw new Error('bad')
      if (jobs.includes('down')) throw new Error('down')
      commits.push([...jobs])
      return jobs.map((job) => (job === 'no' ? { refusal: new Error('no') } : { answer: `${job}!` }))
    },
  })
  return { group, commits, gates }
}

describe('a group commit', () => {
  it('takes callers of the same turn together, and answers each', async () => {
    const { group, commits } = scene()
    expect(await Promise.all(['a', 'b', 'c'].map((job) => group.submit(job)))).toEqual(['a!', 'b!', 'c!'])
    expect(commits).toEqual([['a', 'b', 'c']])
  })

  it('gathers what comes while a commit is under way', async () => {
    const { group, commits, gates } = scene()
    const gate = Promise.withResolvers<void>()
    gates.push(gate)
    const first = group.submit('a')
    await new Promise((resolve) => setImmediate(resolve))
    const rest = Promise.all(['b', 'c'].map((job) => group.submit(job)))
    gate.resolve()
    await Promise.all([first, rest])
    expect(commits).toEqual([['a'], ['b', 'c']])
  })

  it('halves a group that fails until whoever is at fault stands alone', async () => {
    const { group, commits } = scene(['c'])
    const ends = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((job) => group.submit(job)))
    expect(ends.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    expect(commits.flat().sort()).toEqual(['a', 'b', 'd', 'e'])
  })

  it('tells all of them when the store itself is in trouble', async () => {
    const { group } = scene()
    const ends = await Promise.allSettled(['a', 'down'].map((job) => group.submit(job)))
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })

  it('refuses one without the others', async () => {
    const { group } = scene()
    const [refused, answered] = await Promise.allSettled(['no', 'a'].map((job) => group.submit(job)))
    expect([refused!.status, answered!.status]).toEqual(['rejected', 'fulfilled'])
  })

  it('takes no more at a time than its bound', async () => {
    const { group, commits } = scene([], 2)
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((job) => group.submit(job)))
    expect(commits.map((jobs) => jobs.length)).toEqual([2, 2, 1])
    await group.settled()
  })
})
