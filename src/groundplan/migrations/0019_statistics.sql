-- PostgreSQL chooses plans by statistics that its autovacuum brings up to date a minute later at the earliest. Until then
-- what was just imported is read by plans for empty tables. A store calls this after it wrote many rows.
-- only: postgres
CREATE FUNCTION gp_analyze_grown_tables() RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
DECLARE
    grown record;
    analyzed integer := 0;
BEGIN
    -- A table is read again only once it has doubled, so that the cost of all calls together is bounded by its size.
    FOR grown IN SELECT c.oid::regclass AS name
                   FROM pg_class AS c
                  WHERE c.relnamespace = 'groundplan'::regnamespace
                    AND c.relkind = 'r'
                    AND pg_relation_size(c.oid) / current_setting('block_size')::int > 2 * c.relpages + 10
                  ORDER BY c.relname
    LOOP
        EXECUTE format('ANALYZE %s', grown.name);
        analyzed := analyzed + 1;
    END LOOP;
    RETURN analyzed;
END
$$;
-- end
