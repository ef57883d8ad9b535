/**
 * The id makes every timer a place of its own in the order of what is due: a look begins behind what is in flight, also
 * where thousands share an instant.
 */
export const duePlace = `
DROP INDEX wakeful.timers_due;
CREATE INDEX timers_due ON wakeful.timers (shard, wake_at, id) WHERE wake_at IS NOT NULL;
`
