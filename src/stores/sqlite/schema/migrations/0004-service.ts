/**
 * What the service keeps beside the alarms: documents, and the wakes of agents without a URL. The trace that an alarm was set
 * in, and which timers an operator holds.
 */
export const service = `
CREATE TABLE wakeful_documents (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  tenant TEXT NOT NULL,
  value TEXT NOT NULL,
  -- Grows over all documents: one that was removed and put anew is never taken for what it was.
  version INTEGER NOT NULL CHECK (version >= 1),
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX wakeful_documents_tenant ON wakeful_documents (kind, tenant, name);

CREATE TABLE wakeful_inbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  occurrence TEXT NOT NULL,
  alarm TEXT NOT NULL,
  arrived_at INTEGER NOT NULL CHECK (arrived_at BETWEEN 0 AND 253402300799999),
  body TEXT NOT NULL,
  tries INTEGER NOT NULL CHECK (tries >= 0),
  -- Whoever has taken it may answer until then.
  held_until INTEGER NOT NULL,
  UNIQUE (tenant, owner, occurrence)
) STRICT;

CREATE INDEX wakeful_inbox_oldest ON wakeful_inbox (tenant, owner, arrived_at);
CREATE INDEX wakeful_inbox_arrived ON wakeful_inbox (arrived_at);

ALTER TABLE wakeful_alarms ADD COLUMN traceparent TEXT;

-- With waiting = 'handler': it waits for an operator, not for its handler. A version that does not know of holds takes it
-- for the other, and looks again. Without, it says nothing: such a version leaves it behind.
ALTER TABLE wakeful_timers ADD COLUMN held INTEGER CHECK (held = 1);
CREATE INDEX wakeful_timers_unhandled ON wakeful_timers (shard, target, wake_at) WHERE waiting = 'handler' AND held IS NULL;
CREATE INDEX wakeful_timers_held_tenant ON wakeful_timers (shard, tenant, scheduled_for) WHERE waiting = 'handler' AND held = 1;
CREATE INDEX wakeful_timers_held_target ON wakeful_timers (shard, target, scheduled_for) WHERE waiting = 'handler' AND held = 1;
`
