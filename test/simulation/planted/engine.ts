import type { Bug } from './bug.ts'

/** Bugs in the engine, the library and the reader of the log. */
export const ENGINE_BUGS: readonly Bug[] = [
  {
    bug: 'a set is answered although its statement failed',
    breaches: ['lost', 'phantom', 'error'],
    edits: [
      {
        file: 'src/library/alarms.ts',
        from: "import type { Decide, Selector, SetRequest, SetResult } from '../stores/index.ts'",
        to: "import type { Decide, Selector, SetRequest, SetResult } from '../stores/index.ts'\nimport { newSnapshot } from '../alarm/index.ts'",
      },
      {
        file: 'src/library/alarms.ts',
        from: ".catch((thrown: unknown) => reportAndRethrow(observer, 'set', thrown))",
        to: '.catch((thrown: unknown) => {\n            if (tx !== undefined) throw thrown\n            return requests.map(({ alarm, timer }) => ({ outcome: "created" as const, snapshot: newSnapshot(alarm, timer) }))\n          })',
      },
    ],
  },
  {
    bug: 'results are dropped when a settle (the write of the results of deliveries) fails',
    breaches: ['lost', 'unrecorded', 'late', 'uncounted'],
    edits: [{ file: 'src/engine/settler.ts', from: 'pool.restore(ended, finishedBatches)', to: '' }],
  },
  {
    bug: 'the loop ends at an error',
    breaches: ['lost', 'late'],
    edits: [
      {
        file: 'src/engine/engine.ts',
        from: 'if (!this.#stopping) await this.#sleeper.rest(',
        to: 'return\n        if (!this.#stopping) await this.#sleeper.rest(',
      },
    ],
  },
  {
    bug: 'a timer in flight is claimed again',
    breaches: ['duplicate', 'uncounted'],
    edits: [
      {
        file: 'src/engine/in-flight-set.ts',
        from: 'return this.#versions.get(id) === version',
        to: 'return this.#versions.get(id) === version && Number(id) % 50 !== 0',
      },
    ],
  },
  {
    bug: 'the log is read in order of time stamps',
    breaches: ['log_missed'],
    edits: [
      {
        file: 'src/log/reader.ts',
        from: 'yield page\n',
        to: 'yield { ...page, events: page.events.toSorted((a, b) => a.at - b.at) }\n',
      },
    ],
  },
  {
    bug: 'a failed handler commits what it wrote',
    breaches: ['effect'],
    edits: [
      {
        file: 'src/engine/delivery-pool.ts',
        from: "            failure = delivery\n            throw new Error('the delivery failed: its transaction is rolled back')\n",
        to: '            failure = delivery\n',
      },
    ],
  },
  {
    bug: 'a process starts deliveries after its lease has ended',
    breaches: ['unfenced', 'duplicate'],
    edits: [
      {
        file: 'src/engine/leases.ts',
        from: "return this.#ports.clock.monotonic() < leased.until ? 'yes' : 'wait'",
        to: "return 'yes'",
      },
    ],
  },
  {
    bug: 'a transactional handler begins although its lease ended while it waited',
    breaches: ['unfenced', 'duplicate'],
    seeds: 500,
    edits: [
      {
        file: 'src/engine/delivery-pool.ts',
        from: "if (mayStart(lease) !== 'yes') throw new Error('the lease has ended')",
        to: '',
      },
    ],
  },
  {
    bug: 'a list contains alarms of other owners',
    breaches: ['isolated'],
    edits: [
      {
        file: 'src/library/reads.ts',
        from: 'const { items, next } = await this.library.store.list(this.#readScope, { ...query, after })\n    return',
        to: "const { items, next } = await this.library.store.list({ ...this.scope, owner: '' }, { ...query, after })\n    return",
      },
    ],
  },
  {
    bug: 'the owners of a tenant are not separated',
    breaches: ['isolated'],
    edits: [
      {
        file: 'src/library/wakeful.ts',
        from: 'return new BulkAlarms(this.#parts, { tenant, owner })',
        to: "return new BulkAlarms(this.#parts, { tenant, owner: owner && '' })",
      },
    ],
  },
  {
    bug: 'the slots are not counted',
    breaches: ['bounded'],
    edits: [
      {
        file: 'src/engine/delivery-pool.ts',
        from: 'while (this.#active.size < this.#ports.concurrency && this.#head',
        to: 'while (this.#head',
      },
    ],
  },
  {
    bug: 'the reserved slots are counted twice',
    breaches: ['bounded'],
    edits: [
      {
        file: 'src/engine/admission.ts',
        from: 'concurrency + Math.floor(concurrency * RESERVE) - load().active',
        to: 'concurrency + 2 * Math.floor(concurrency * RESERVE) - load().active',
      },
    ],
  },
  {
    bug: 'an attempt that hangs is never aborted',
    breaches: ['unrecorded', 'uncounted', 'late'],
    edits: [
      {
        file: 'src/engine/attempt.ts',
        from: "this.break('timeout',",
        to: "Object.is('timeout',",
      },
    ],
  },
  {
    bug: 'the loop sleeps past the next wake',
    breaches: ['late', 'lost'],
    edits: [
      {
        file: 'src/engine/engine.ts',
        from: '? this.#nextWakeAt : this.#admission.othersWakeAt\n  }',
        to: '? null : this.#admission.othersWakeAt\n  }',
      },
    ],
  },
  {
    bug: 'the clock is not read before a start',
    breaches: ['early'],
    edits: [
      {
        file: 'src/engine/engine.ts',
        from: 'const context = this.#options.context()\n    const { clock, store, observer }',
        to: 'const asked = this.#options.context()\n    const context = { ...asked, now: Math.max(asked.now, Math.min(this.#nextWakeAt ?? 0, asked.now + 5)) }\n    const { clock, store, observer }',
      },
      {
        file: 'src/engine/delivery-pool.ts',
        from: 'return timer.wakeAt !== null && this.#ports.clock.now() < timer.wakeAt',
        to: 'return timer.wakeAt === Number.NaN',
      },
    ],
  },
]
