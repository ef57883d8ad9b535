/**
 * Holiday calendars, what they make of a rule's instants, and the zone offset under which an instant was found: with
 * these, pending instants can be resolved again when a calendar is edited or the zones' data changes.
 */
export const daysOff = `
CREATE TABLE wakeful_calendars (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Grows with every edit; alarms have been looked at again up to the reviewed one.
  version INTEGER NOT NULL CHECK (version >= 1),
  reviewed INTEGER NOT NULL CHECK (reviewed <= version),
  dates TEXT NOT NULL,
  weekend TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (tenant, name)
) STRICT;

-- The names of the calendars that the rule excludes, as JSON.
ALTER TABLE wakeful_alarms ADD COLUMN calendars TEXT;
CREATE INDEX wakeful_alarms_calendars ON wakeful_alarms (tenant) WHERE calendars IS NOT NULL;

-- The rule's own instant, where days off made another of it.
ALTER TABLE wakeful_timers ADD COLUMN nominal INTEGER CHECK (nominal BETWEEN 0 AND 253402300799999);
ALTER TABLE wakeful_timers ADD COLUMN zone_offset INTEGER;
-- Nothing of the alarm fires at or before this any more.
ALTER TABLE wakeful_timers ADD COLUMN floor INTEGER;
`
