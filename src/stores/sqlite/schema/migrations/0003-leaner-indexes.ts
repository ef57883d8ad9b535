/**
 * A correlation id that nobody gave is the alarm's own, which is indexed already. What PostgreSQL is told here beside, that
 * the due index ends with the timer's id, SQLite's indexes do by themselves.
 */
export const leanerIndexes = `
DROP INDEX wakeful_alarms_correlation;
CREATE INDEX wakeful_alarms_correlation ON wakeful_alarms (tenant, owner, correlation_id) WHERE correlation_id <> id;
`
