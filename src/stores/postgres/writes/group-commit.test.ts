import { describe, expect, it } from 'vitest'
import { realTimers } from '../../sharded/index.ts'
import { GroupCommit, type RunGroup } from './group-commit.ts'

/** A store that commits when it is told to, and cannot take some jobs. */
function scene(bad: readonly string[] = [], groupsMax = 1) {
  const commits: string[][] = []
  const releases: PromiseWithResolvers<void>[] = []
  const run: RunGroup<string, string> = async (jobs) => {
    await releases.shift()?.promise
    if (jobs.some((job) => bad.includes(job))) throw new Error('bad')
    if (jobs.includes('down')) throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
    commits.push([...jobs])
    return jobs.map((job) => (job === 'no' ? { refusal: new Error('no') } : { answer: `${job}!` }))
  }
  const group = new GroupCommit(realTimers, run, groupsMax)
  return { group, commits, releases }
}

describe('a group commit', () => {
  it('takes callers of the same turn together, and answers each', async () => {
    const { group, commits } = scene()
    expect(await Promise.all(['a', 'b', 'c'].map((job) => group.submit(job)))).toEqual(['a!', 'b!', 'c!'])
    expect(commits).toEqual([['a', 'b', 'c']])
  })

  it('gathers what comes while a commit is under way', async () => {
    const { group, commits, releases } = scene()
    const release = Promise.withResolvers<void>()
    releases.push(release)
    const first = group.submit('a')
    await new Promise((resolve) => setImmediate(resolve))
    const rest = Promise.all(['b', 'c'].map((job) => group.submit(job)))
    release.resolve()
    await Promise.all([first, rest])
    expect(commits).toEqual([['a'], ['b', 'c']])
  })

  it('bisects a group that fails until the failing job is alone', async () => {
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

  it('fails all of them when the store itself fails', async () => {
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
    const { group, commits } = scene()
    await Promise.all(Array.from({ length: 1_001 }, (_, i) => group.submit(String(i))))
    expect(commits.map((jobs) => jobs.length)).toEqual([500, 500, 1])
    await group.settled()
  })

  it('divides many among the groups that it may have under way', async () => {
    const { group, commits } = scene([], 2)
    const jobs = Array.from({ length: 40 }, (_, i) => String(i))
    expect(await Promise.all(jobs.map((job) => group.submit(job)))).toEqual(jobs.map((job) => `${job}!`))
    expect(commits.map((each) => each.length)).toEqual([20, 20])
    expect(commits.flat()).toEqual(jobs)
  })

  it('lets a few wait for the group that is under way, and many go ahead', async () => {
    const { group, commits, releases } = scene([], 2)
    const release = Promise.withResolvers<void>()
    releases.push(release)
    const first = group.submit('a')
    await new Promise((resolve) => setImmediate(resolve))
    const few = Array.from({ length: 15 }, (_, i) => group.submit(String(i)))
    await new Promise((resolve) => setImmediate(resolve))
    expect(commits).toEqual([])
    const one = group.submit('15')
    await Promise.all([...few, one])
    expect(commits.map((each) => each.length)).toEqual([16])
    release.resolve()
    await first
    await group.settled()
    expect(commits.map((each) => each.length)).toEqual([16, 1])
  })

  it('has settled when everything has, also what came meanwhile', async () => {
    const { group, commits } = scene([], 2)
    const jobs = Array.from({ length: 1_001 }, (_, i) => String(i))
    const ends = Promise.all(jobs.map((job) => group.submit(job)))
    await group.settled()
    expect(commits.flat()).toEqual(jobs)
    await ends
  })
})
