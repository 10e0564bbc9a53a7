-- What the queries of containers share.

-- part: in_priority_range
AND c.priority >= CAST(:least AS double precision)
           AND c.priority < CAST(:below AS double precision)
