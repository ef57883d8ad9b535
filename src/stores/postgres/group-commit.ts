/** Calls that wait for the same commit. */
interface Waiting<J, A> {
  readonly job: J
  readonly resolve: (answer: A) => void
  readonly reject: (reason: unknown) => void
}

/** How the jobs of a group end: each by its answer, or by what is wrong with it alone. */
export type Ending<A> = { readonly answer: A } | { readonly refusal: unknown }

/** What a group commit is made of. */
export interface GroupPorts<J, A> {
  /** Runs jobs in one transaction and answers after its commit; a throw means that nothing was written. */
  run(jobs: readonly J[], isAlone: boolean): Promise<readonly Ending<A>[]>
  /** Whether a throw may be the fault of one of the jobs, so that the others are tried without it. */
  mayDivide(thrown: unknown): boolean
  readonly jobsMax: number
}

/**
 * Callers of the same moment share one transaction, and each is answered after its commit (promise: durable). A lone
 * caller waits for nobody: what gathers is what comes while a commit is under way. A group that fails is halved, until
 * whoever is at fault stands alone (hazard 7).
 */
export class GroupCommit<J, A> {
  readonly #ports: GroupPorts<J, A>
  #waiting: Waiting<J, A>[] = []
  #flying: Promise<void> | null = null

  constructor(ports: GroupPorts<J, A>) {
    this.#ports = ports
  }

  submit(job: J): Promise<A> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject })
      this.#flying ??= this.#fly()
    })
  }

  /** Waits for what is under way. */
  async settled(): Promise<void> {
    while (this.#flying !== null) await this.#flying
  }

  async #fly(): Promise<void> {
    // After everything else of this turn, so that its callers come along.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0) await this.#runAll(this.#waiting.splice(0, this.#ports.jobsMax))
    this.#flying = null
  }

  async #runAll(group: readonly Waiting<J, A>[]): Promise<void> {
    const { run, mayDivide } = this.#ports
    try {
      const endings = await run(
        group.map(({ job }) => job),
        group.length === 1,
      )
      for (const [index, ending] of endings.entries()) {
        const { resolve, reject } = group[index]!
        if ('answer' in ending) resolve(ending.answer)
        else reject(ending.refusal)
      }
    } catch (thrown) {
      if (group.length === 1 || !mayDivide(thrown)) {
        for (const { reject } of group) reject(thrown)
        return
      }
      // Both at once: a half that waits for a lock does not hold the other up. Callers of one moment have no order.
      const middle = group.length >> 1
      await Promise.all([this.#runAll(group.slice(0, middle)), this.#runAll(group.slice(middle))])
    }
  }
}
