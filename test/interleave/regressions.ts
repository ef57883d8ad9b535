/** A schedule that once broke a promise, and must not again. */
export interface Regression {
  readonly name: string
  readonly scenario: string
  readonly schedule: string
}

/** Every schedule that found something in the store. */
export const regressions: readonly Regression[] = [
  {
    name: 'a connection that breaks within a transaction does not end the process',
    scenario: 'settle whose connection the server ends | cancel, recurring',
    schedule: 'one*3,two',
  },
]
