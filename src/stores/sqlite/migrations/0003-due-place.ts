/** Nothing to do: what PostgreSQL is told here, that the due index ends with the timer's id, SQLite's indexes do by themselves. */
export const duePlace = `
-- The due index ends with the row's own number.
`
