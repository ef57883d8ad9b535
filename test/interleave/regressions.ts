/** A schedule that once broke a promise. */
export interface Regression {
  readonly name: string
  readonly scenario: string
  readonly schedule: string
}

/** All schedules that found a bug in the store. */
export const regressions: readonly Regression[] = [
  {
    name: 'a connection that breaks within a transaction does not end the process',
    scenario: 'settle whose connection the server ends | cancel, recurring',
    schedule: 'one*3,two',
  },
  {
    name: 'a set by a key whose alarm is pruned at that moment is not lost',
    scenario: 'prune | set, the same key',
    schedule: 'one*12,two',
  },
  {
    name: 'a set by an idempotency key whose alarm is pruned at that moment is not lost',
    scenario: 'prune | set, the same idempotency key',
    schedule: 'two,one',
  },
  {
    name: 'an alarm that is paused while its handler is registered stays paused',
    scenario: 'pause | release of what waits for its handler',
    schedule: 'two*6,one',
  },
  {
    name: 'an occurrence is not queued behind one that is being settled at that moment',
    scenario: 'settle that ends the open occurrence | claim that queues the next',
    schedule: 'two*6,one',
  },
  {
    name: 'a set whose commit loses its answer is found by its own process without a heartbeat',
    scenario: 'own set whose commit loses its answer | claim',
    schedule: 'one*6,one2',
  },
  {
    name: 'an alarm whose target moves to another pool is found there without a heartbeat',
    scenario: 'target moved to another pool | claim by its lease holder',
    schedule: '',
  },
  {
    name: 'what another process set in a shard is found when the shard is reacquired',
    scenario: 'a shard is reacquired: set by the interim lease holder | claim by the former one',
    schedule: '',
  },
  {
    name: 'a process whose lease has ended sends notices of what it sets',
    scenario: 'set by a process whose lease has ended | takeover and claim',
    schedule: '',
  },
]
