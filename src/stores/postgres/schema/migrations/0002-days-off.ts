/**
 * Holiday calendars, what they make of a rule's instants, and the zone offset under which an instant was found: with
 * these, pending instants can be resolved again when a calendar is edited or the zones' data changes.
 */
export const daysOff = `
CREATE TABLE wakeful.calendars (
  tenant text NOT NULL,
  name text NOT NULL,
  -- Grows with every edit; alarms have been looked at again up to the reviewed one.
  version bigint NOT NULL CHECK (version >= 1),
  reviewed bigint NOT NULL CHECK (reviewed <= version),
  dates text NOT NULL,
  weekend text NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (tenant, name)
);

-- The names of the calendars that the rule excludes, as JSON.
ALTER TABLE wakeful.alarms ADD COLUMN calendars text;
CREATE INDEX alarms_calendars ON wakeful.alarms (tenant, seq) WHERE calendars IS NOT NULL;

-- The rule's own instant, where days off made another of it.
ALTER TABLE wakeful.timers ADD COLUMN nominal bigint CHECK (nominal BETWEEN 0 AND 253402300799999);
ALTER TABLE wakeful.timers ADD COLUMN zone_offset bigint;
-- Nothing of the alarm fires at or before this any more.
ALTER TABLE wakeful.timers ADD COLUMN floor bigint;
`
