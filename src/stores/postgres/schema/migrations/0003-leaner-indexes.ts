/**
 * The id makes every timer a place of its own in the order of what is due: a look begins behind what is in flight, also
 * where thousands share an instant. A correlation id that nobody gave is the alarm's own, which is indexed already.
 */
export const leanerIndexes = `
DROP INDEX wakeful.timers_due;
CREATE INDEX timers_due ON wakeful.timers (shard, wake_at, id) WHERE wake_at IS NOT NULL;
DROP INDEX wakeful.alarms_correlation;
CREATE INDEX alarms_correlation ON wakeful.alarms (tenant, owner, correlation_id, seq) WHERE correlation_id <> id;
`
