import type { World } from './world.ts'

/** Where a process may be ambushed. */
const STATEMENTS = [
  'set', 'take.look', 'take.commit', 'settle', 'transact.begin', 'transact.settle', 'transact.commit', 'own.beat',
  'own.claim', 'own.give_up',
] as const // biome-ignore format: a list
const POINTS = ['sent', 'ran', 'answered'] as const

/** Lets something befall one of the processes now: nothing that takes time takes longer than this. */
export function strike(world: World, msMax: number): void {
  const { random, processes } = world
  const process = processes[random.between(0, processes.length - 1)]
  if (process === undefined || !process.isUp) return
  const ms = random.between(100, msMax)
  const statement = STATEMENTS[random.between(0, STATEMENTS.length - 1)]!
  const point = POINTS[random.between(0, POINTS.length - 1)]!
  random.weighted([
    [1, () => world.kill(process)],
    [1, () => void world.close(process)],
    [4, () => world.ambush(process, statement, point)],
    [2, () => world.pause(process, ms)],
    [2, () => world.partition(process, ms)],
    [1, () => world.step(process, random.between(-ms, ms))],
  ])()
}
