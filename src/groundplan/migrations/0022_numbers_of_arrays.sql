-- The integers of a JSON array. A cast of each element could fail, so PostgreSQL makes it only after the policies have been
-- checked, and therefore reads the whole table; the array is cast once, before.
-- only: postgres
CREATE FUNCTION gp_each_number(elements text) RETURNS TABLE (value bigint)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 10
AS $$
    SELECT unnest(translate(elements, '[]', '{}')::bigint[])
$$;
-- end
