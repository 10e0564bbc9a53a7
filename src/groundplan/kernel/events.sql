-- part: header
rev, n, at, actor_id AS actor, op, subject,
(SELECT p.kind FROM principals AS p WHERE p.tenant_id = :tenant_id AND p.id = actor_id AND p.kind <> 'person')
    AS actor_kind

-- part: event
{header}, changes, decision

-- part: use_subject_index
-- Without this, SQLite uses the primary key for its order and reads every event of the project.
INDEXED BY events_by_subject

-- part: in_writes
AND e.rev IN (SELECT CAST(value AS bigint) FROM each(:revs))

-- name: decisions_about
-- Returns the newest events of one slice about some subjects that have a decision, newest first.
SELECT {event}
  FROM each(:subjects) AS k
 CROSS JOIN events AS e {use_subject_index}
 WHERE e.tenant_id = :tenant_id
   AND e.project_id = :project_id
   AND e.subject = k.value
   AND e.op >= :first_op
   AND e.op < :behind_ops
   AND e.decision IS NOT NULL
 ORDER BY e.rev DESC, e.n DESC
 LIMIT :at_most;

-- name: headlines
-- Returns the first events of some writes that have one of the ops or a decision, newest write first.
SELECT {event}
  FROM events AS e
 WHERE e.tenant_id = :tenant_id
   AND e.project_id = :project_id
   {in_writes}
   AND e.n < :events_per_write
   AND e.op >= :first_op
   AND e.op < :behind_ops
   AND (e.decision IS NOT NULL OR e.op IN (SELECT value FROM each(:shown_ops)))
 ORDER BY e.rev DESC, e.n;

-- name: events_of_subjects
-- Returns all events of one slice about some subjects.
SELECT {event}
  FROM each(:subjects) AS k
 CROSS JOIN events AS e {use_subject_index}
 WHERE e.tenant_id = :tenant_id
   AND e.project_id = :project_id
   AND e.subject = k.value
   AND e.op >= :first_op
   AND e.op < :behind_ops;

-- name: events_after
-- Returns the events of the project after a position, oldest first.
SELECT {header}
  FROM events
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND (rev, n) > (:rev, :n)
 ORDER BY rev, n
 LIMIT :at_most;

-- name: last_event
-- Returns the position of the last event of the project; :rev is its revision.
SELECT rev, n
  FROM events
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND rev <= :rev
 ORDER BY rev DESC, n DESC
 LIMIT 1;

-- name: count_events_after
-- Returns how many events of the project are after a position; it counts no further than :at_most.
SELECT count(*)
  FROM (SELECT 1
          FROM events
         WHERE tenant_id = :tenant_id
           AND project_id = :project_id
           AND (rev, n) > (:rev, :n)
         LIMIT :at_most) AS counted;

-- part: matching
AND (:actor = '' OR actor_id = :actor)
AND (:op = '' OR op = :op OR (op >= :first_op AND op < :behind_ops))

-- name: first_event_from
-- Returns the revision and the time of the first write from a revision on.
SELECT rev, at
  FROM events
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND rev >= :rev
 ORDER BY rev, n
 LIMIT 1;

-- name: position_after
-- Returns the position of the event that follows :skipped others after a position.
SELECT rev, n
  FROM events
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND (rev, n) > (:rev, :n)
 ORDER BY rev, n
 LIMIT 1 OFFSET :skipped;

-- name: position_before
-- Returns the position of the event that precedes :skipped others before a position.
SELECT rev, n
  FROM events
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND (rev, n) < (:rev, :n)
 ORDER BY rev DESC, n DESC
 LIMIT 1 OFFSET :skipped;

-- name: matching_events_after
-- Returns the matching events between two positions, oldest first.
SELECT {event}
  FROM events
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND (rev, n) > (:rev, :n)
   AND (rev, n) <= (:end_rev, :end_n)
   {matching}
 ORDER BY rev, n
 LIMIT :at_most;

-- name: matching_events_before
-- Returns the matching events between two positions, newest first.
SELECT {event}
  FROM events
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND (rev, n) < (:rev, :n)
   AND (rev, n) >= (:end_rev, :end_n)
   {matching}
 ORDER BY rev DESC, n DESC
 LIMIT :at_most;

-- name: matching_events_about_after
-- Returns the matching events about one subject between two positions, oldest first.
SELECT {event}
  FROM events {use_subject_index}
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND subject = :subject
   AND (rev, n) > (:rev, :n)
   AND (rev, n) <= (:end_rev, :end_n)
   {matching}
 ORDER BY rev, n
 LIMIT :at_most;

-- name: matching_events_about_before
-- Returns the matching events about one subject between two positions, newest first.
SELECT {event}
  FROM events {use_subject_index}
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND subject = :subject
   AND (rev, n) < (:rev, :n)
   AND (rev, n) >= (:end_rev, :end_n)
   {matching}
 ORDER BY rev DESC, n DESC
 LIMIT :at_most;

-- name: event_headers
-- Returns the events of some kinds about some subjects, oldest first.
SELECT {header}
  FROM each(:subjects) AS k
 CROSS JOIN events AS e {use_subject_index}
 WHERE e.tenant_id = :tenant_id
   AND e.project_id = :project_id
   AND e.subject = k.value
   AND e.op IN (SELECT value FROM each(:ops))
 ORDER BY e.rev, e.n;

-- part: is_no_undo
-- Whether a write of an event `e` is neither an undo nor a redo.
NOT EXISTS (SELECT 1
                     FROM write_undos AS own
                    WHERE own.tenant_id = e.tenant_id
                      AND own.project_id = e.project_id
                      AND own.rev = e.rev)

-- part: is_in_effect
-- Whether the write of an event `e` was not undone, or done again since.
coalesce((SELECT last.is_redo
                    FROM write_undos AS last
                   WHERE last.tenant_id = e.tenant_id
                     AND last.project_id = e.project_id
                     AND last.origin_rev = e.rev
                   ORDER BY last.rev DESC
                   LIMIT 1), true)

-- name: last_write_of_actor
-- Returns the newest of some writes that an actor made and that is in effect.
SELECT e.rev
  FROM events AS e
 WHERE e.tenant_id = :tenant_id
   AND e.project_id = :project_id
   {in_writes}
   AND e.n = 0
   AND e.actor_id = :actor
   AND NOT (e.op IN (SELECT value FROM each(:ignored_ops)))
   AND {is_no_undo}
   AND {is_in_effect}
 ORDER BY e.rev DESC
 LIMIT 1;

-- name: last_undo_of_actor
-- Returns the last undo of an actor that was not followed by a redo, or by another change of this actor.
SELECT u.rev
  FROM write_undos AS u
  JOIN events AS e
    ON e.tenant_id = u.tenant_id
   AND e.project_id = u.project_id
   AND e.rev = u.rev
   AND e.n = 0
 WHERE u.tenant_id = :tenant_id
   AND u.project_id = :project_id
   AND u.rev IN (SELECT CAST(value AS bigint) FROM each(:revs))
   AND e.actor_id = :actor
   AND NOT u.is_redo
   AND NOT EXISTS (SELECT 1
                     FROM write_undos AS later
                    WHERE later.tenant_id = u.tenant_id
                      AND later.project_id = u.project_id
                      AND later.origin_rev = u.origin_rev
                      AND later.rev > u.rev)
   AND u.rev > coalesce((SELECT max(e.rev)
                           FROM events AS e
                          WHERE e.tenant_id = :tenant_id
                            AND e.project_id = :project_id
                            {in_writes}
                            AND e.n = 0
                            AND e.actor_id = :actor
                            AND NOT (e.op IN (SELECT value FROM each(:ignored_ops)))
                            AND {is_no_undo}), 0)
 ORDER BY u.rev DESC
 LIMIT 1;

-- name: undo_of_write
-- Returns the row of a write that is an undo or a redo.
SELECT rev, undone_rev, origin_rev, is_redo
  FROM write_undos
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND rev = :rev;

-- name: last_undo_of_origin
-- Returns the row of the last undo or redo of a write.
SELECT rev, undone_rev, origin_rev, is_redo
  FROM write_undos
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND origin_rev = :origin_rev
 ORDER BY rev DESC
 LIMIT 1;

-- name: undone_writes
-- Returns those of some writes that were undone, and not done again since.
SELECT last.origin_rev
  FROM each(:revs) AS k
 CROSS JOIN write_undos AS last
 WHERE last.tenant_id = :tenant_id
   AND last.project_id = :project_id
   AND last.origin_rev = CAST(k.value AS bigint)
   AND NOT last.is_redo
   AND NOT EXISTS (SELECT 1
                     FROM write_undos AS later
                    WHERE later.tenant_id = last.tenant_id
                      AND later.project_id = last.project_id
                      AND later.origin_rev = last.origin_rev
                      AND later.rev > last.rev);

-- name: add_undo
-- Record that this write is an undo or a redo.
INSERT INTO write_undos (tenant_id, project_id, rev, undone_rev, origin_rev, is_redo)
VALUES (:tenant_id, :project_id, :write_rev, :undone_rev, :origin_rev, :is_redo);

-- part: origin
-- The write that the write of an event `e` is, takes back or does again.
coalesce((SELECT own.origin_rev
                          FROM write_undos AS own
                         WHERE own.tenant_id = e.tenant_id
                           AND own.project_id = e.project_id
                           AND own.rev = e.rev), e.rev)

-- name: subjects_after_write
-- Returns the subjects of the first events of a project after a write.
SELECT e.subject
  FROM events AS e
 WHERE e.tenant_id = :tenant_id
   AND e.project_id = :project_id
   AND e.rev > :rev
 ORDER BY e.rev, e.n
 LIMIT :at_most;

-- name: first_event_after_write
-- Returns the first event about some subjects after a write, if it is still felt: of a write that was made, taken back or
-- done again since, and in all an odd number of times.
SELECT {header}
  FROM each(:subjects) AS k
 CROSS JOIN events AS e {use_subject_index}
 WHERE e.tenant_id = :tenant_id
   AND e.project_id = :project_id
   AND e.subject = k.value
   AND e.rev > :rev
   AND NOT (e.op IN (SELECT value FROM each(:ignored)))
   AND (CASE WHEN {origin} > :rev THEN 1 ELSE 0 END
        + (SELECT count(*)
             FROM write_undos AS other
            WHERE other.tenant_id = e.tenant_id
              AND other.project_id = e.project_id
              AND other.origin_rev = {origin}
              AND other.rev > :rev)) % 2 = 1
 ORDER BY e.rev, e.n
 LIMIT 1;
