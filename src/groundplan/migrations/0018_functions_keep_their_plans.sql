-- Policies and triggers call functions that run with the rights of the owner. Before PostgreSQL 18, such a function in SQL
-- is planned anew by every statement that calls it, which takes longer than the statement; one in PL/pgSQL keeps its plan
-- for the connection. Only those that read are converted: a statement that writes cannot stand in an expression.
-- only: postgres
DO $convert$
DECLARE f record;
BEGIN
    FOR f IN SELECT p.proname,
                    p.prosrc,
                    p.proretset,
                    pg_get_function_arguments(p.oid) AS arguments,
                    pg_get_function_result(p.oid) AS result
               FROM pg_proc AS p
               JOIN pg_language AS l
                 ON l.oid = p.prolang
              WHERE p.pronamespace = 'groundplan'::regnamespace
                AND l.lanname = 'sql'
                AND p.prosecdef
                AND p.provolatile = 's'
                AND p.proargmodes IS NULL
    LOOP
        EXECUTE format(
            'CREATE OR REPLACE FUNCTION %I(%s) RETURNS %s LANGUAGE plpgsql STABLE %s SECURITY DEFINER '
            'SET search_path = groundplan, pg_temp AS %L',
            f.proname, f.arguments, f.result, CASE WHEN f.proretset THEN 'ROWS 1' END,
            format(CASE WHEN f.proretset THEN 'BEGIN RETURN QUERY %s; END' ELSE 'BEGIN RETURN (%s); END' END, f.prosrc));
    END LOOP;
END
$convert$;
-- end
